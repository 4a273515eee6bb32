/**
 * Writes headers of the PROXY protocol, for tests.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import type { SocketAddress } from '../../../socket/addresses.ts';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

export interface HeaderTerms {
  readonly source: SocketAddress;
  readonly destination?: SocketAddress;
  /** Default: `datagram`. */
  readonly protocol?: 'stream' | 'datagram';
  /** Default: `proxy`. */
  readonly command?: 'local' | 'proxy';
  /** Octets behind the addresses. */
  readonly tlvs?: Uint8Array;
}

/** A header of version 2. Both addresses are of one family. */
export function writeHeader({
  source,
  destination,
  protocol = 'datagram',
  command = 'proxy',
  tlvs = new Uint8Array(),
}: HeaderTerms): Buffer {
  const from = parseAddress(source.address) ?? new Uint8Array(4);
  const isIpv4 = from.length === 4;
  const to = parseAddress(destination?.address ?? (isIpv4 ? '198.51.100.53' : '2001:db8::53')) ?? from;
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(source.port);
  ports.writeUInt16BE(destination?.port ?? 53, 2);
  const rest = Buffer.concat([from, to, ports, tlvs]);
  const fixed = Buffer.of(
    command === 'local' ? 0x20 : 0x21,
    (isIpv4 ? 0x10 : 0x20) | (protocol === 'stream' ? 1 : 2),
    rest.length >> 8,
    rest.length,
  );
  return Buffer.concat([SIGNATURE, fixed, rest]);
}

/** A header of version 2 with given octets behind the signature. */
export function writeRawHeader(hex: string): Buffer {
  return Buffer.concat([SIGNATURE, Buffer.from(hex, 'hex')]);
}
