/**
 * Socket addresses: `struct sockaddr_in` and `struct sockaddr_in6` as bytes, and as text and port.
 *
 *     sockaddr_in    0 family  2 port  4 address (4)
 *     sockaddr_in6   0 family  2 port  4 flow label  8 address (16)  24 interface of a link-local address
 *
 * The family is in the order of the machine (little-endian, see `batchesAvailable`), port and address in network order.
 */
import { networkInterfaces } from 'node:os';
import { AddressError, formatAddress, parseAddress } from '@portolan/dns/address.ts';
import { AF_INET, AF_INET6 } from './linux.ts';

/** An address to listen on or to answer to. IPv6 text may end in a zone: `fe80::1%eth0`, `fe80::1%2`. */
export interface SocketAddress {
  readonly address: string;
  /** 0 to 65535; 0 asks the kernel for a free one. */
  readonly port: number;
}

export const SOCKADDR_IN_OCTETS = 16;
export const SOCKADDR_IN6_OCTETS = 28;

/** Whether a socket on this address receives packets to any address of the machine. */
export function isWildcard(address: string): boolean {
  return parseAddress(address)?.every((octet) => octet === 0) ?? false;
}

export function toAddressFamily(address: string): typeof AF_INET | typeof AF_INET6 {
  return address.includes(':') ? AF_INET6 : AF_INET;
}

/** @throws AddressError if the text is not an address, or its zone is not an interface of this machine */
export function encodeSocketAddress({ address, port }: SocketAddress): Uint8Array {
  const [text = '', zone] = address.split('%', 2);
  const octets = parseAddress(text);
  if (octets === undefined || (zone !== undefined && octets.length === 4)) throw new AddressError(address);
  const encoded = new Uint8Array(octets.length === 4 ? SOCKADDR_IN_OCTETS : SOCKADDR_IN6_OCTETS);
  const view = new DataView(encoded.buffer);
  view.setUint16(0, octets.length === 4 ? AF_INET : AF_INET6, true);
  view.setUint16(2, port);
  encoded.set(octets, octets.length === 4 ? 4 : 8);
  if (zone !== undefined) view.setUint32(24, interfaceNumber(address, zone), true);
  return encoded;
}

function interfaceNumber(address: string, zone: string): number {
  if (/^\d+$/.test(zone)) return Number(zone);
  for (const entry of networkInterfaces()[zone] ?? []) {
    if (entry.family === 'IPv6' && entry.scopeid !== 0) return entry.scopeid;
  }
  throw new AddressError(address);
}

/**
 * Decodes a socket address as the kernel wrote it.
 *
 * @param octets at least 16 from `start` for IPv4, 28 for IPv6
 */
export function decodeSocketAddress(octets: Uint8Array, start = 0): SocketAddress {
  const view = new DataView(octets.buffer, octets.byteOffset + start);
  const port = view.getUint16(2);
  const address = formatAddress(addressOctets(octets, start));
  if (view.getUint16(0, true) !== AF_INET6) return { address, port };
  const zone = view.getUint32(24, true);
  return { address: zone === 0 ? address : `${address}%${zone}`, port };
}

/** The address in a socket address that begins at `start`: 4 octets for IPv4, 16 for IPv6; a view. */
export function addressOctets(octets: Uint8Array, start: number): Uint8Array {
  return octets[start] === AF_INET6
    ? octets.subarray(start + 8, start + 24)
    : octets.subarray(start + 4, start + 8);
}
