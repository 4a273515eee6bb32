/**
 * Reads headers of the PROXY protocol (haproxy.org/download/3.2/doc/proxy-protocol.txt), by which a proxy tells the client's address.
 *
 *     version 1   "PROXY TCP4 192.0.2.1 198.51.100.1 56324 53\r\n", at most 107 octets
 *     version 2   0 signature (12)   12 version and command   13 family and protocol   14 length of what follows (2)
 *                 16 addresses: source and destination (4 or 16 octets each), their ports (2 each), then TLVs
 *
 * It allocates no memory for version 2: readers call it for each packet.
 */
import { isMappedAddress, parseAddress } from '@portolan/dns/address.ts';
import { uint16At } from '@portolan/dns/header.ts';
import { SOCKADDR_IN_OCTETS, SOCKADDR_IN6_OCTETS } from '../../socket/addresses.ts';
import { AF_INET, AF_INET6, IPV4_AT, IPV6_AT } from '../../socket/linux.ts';

/**
 * What stands in place of the length of a header. NONE: the octets begin no header. INCOMPLETE: they begin one that is longer.
 * MALFORMED: they are no header, though they begin like one.
 */
export const NO_HEADER = { NONE: 0, INCOMPLETE: -1, MALFORMED: -2 } as const;

const SIGNATURE_1 = Uint8Array.from(Buffer.from('PROXY'));
const SIGNATURE_2 = Uint8Array.of(0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a);
const MAX_LINE_OCTETS = 107;
const FIXED_OCTETS = 16;
/** Of addresses and TLVs, as in CoreDNS. */
const MAX_LENGTH = 4096;
/** Octets of a whole header at most. */
export const MAX_HEADER_OCTETS = FIXED_OCTETS + MAX_LENGTH;
const COMMAND = { LOCAL: 0x20, PROXY: 0x21 } as const;
const FAMILY = { IPV4: 0x10, IPV6: 0x20, UNIX: 0x30 } as const;
const PROTOCOL = { STREAM: 1, DATAGRAM: 2 } as const;
/** Octets of the addresses of a family, and of each of the two. */
const BLOCK = { IPV4: 12, IPV6: 36 } as const;
const ADDRESS = { IPV4: 4, IPV6: 16 } as const;

const LF = 0x0a;
const CR = 0x0d;
const PORT = /^(?:0|[1-9]\d{0,4})$/;
const MAX_PORT = 65_535;

/** A socket address as the kernel writes one. */
export interface HeaderAddress {
  readonly octets: Uint8Array;
  /** Octets in use. */
  length: number;
}

export class ProxyHeaderReader {
  /** Of the last header: the client, and the address that it has asked. Without octets: the header tells of no client. */
  readonly source: HeaderAddress = { octets: new Uint8Array(SOCKADDR_IN6_OCTETS), length: 0 };
  readonly destination: HeaderAddress = { octets: new Uint8Array(SOCKADDR_IN6_OCTETS), length: 0 };
  /** Of the last header: 1 or 2, and whether it tells of datagrams. */
  version: 1 | 2 = 2;
  isOfDatagrams = false;

  /**
   * Reads the header that octets begin with.
   *
   * @param start where they begin in `octets` @param end the octet behind them
   * @returns the length of the header, or one of `NO_HEADER`
   */
  read(octets: Uint8Array, start: number, end: number): number {
    const first = octets[start];
    if (first === SIGNATURE_2[0]) return this.#readBinary(octets, start, end);
    return first === SIGNATURE_1[0] ? this.#readText(octets, start, end) : NO_HEADER.NONE;
  }

  #begin(version: 1 | 2): void {
    this.version = version;
    this.isOfDatagrams = false;
    this.source.length = 0;
    this.destination.length = 0;
  }

  #readBinary(octets: Uint8Array, start: number, end: number): number {
    const begins = matchSignature(SIGNATURE_2, octets, start, end);
    if (begins !== SIGNATURE_2.length) return begins;
    this.#begin(2);
    if (end - start < FIXED_OCTETS) return NO_HEADER.INCOMPLETE;
    const command = octets[start + 12] ?? 0;
    const kind = octets[start + 13] ?? 0;
    const length = uint16At(octets, start + 14);
    const isLocal = command === COMMAND.LOCAL;
    if ((!isLocal && command !== COMMAND.PROXY) || !isKind(kind) || length > MAX_LENGTH)
      return NO_HEADER.MALFORMED;
    // A connection of the proxy's own has its real endpoints, whatever addresses the header has.
    const isSound = isLocal || length >= findBlock(kind);
    if (!isSound) return NO_HEADER.MALFORMED;
    if (end - start < FIXED_OCTETS + length) return NO_HEADER.INCOMPLETE;
    this.isOfDatagrams = (kind & 0x0f) === PROTOCOL.DATAGRAM;
    if (!isLocal) this.#readBlock(kind & 0xf0, octets, start + FIXED_OCTETS);
    return FIXED_OCTETS + length;
  }

  #readBlock(family: number, octets: Uint8Array, at: number): void {
    const size = family === FAMILY.IPV4 ? ADDRESS.IPV4 : ADDRESS.IPV6;
    writeAddress(this.source, octets, at, size, octets, at + 2 * size);
    writeAddress(this.destination, octets, at + size, size, octets, at + 2 * size + 2);
  }

  #readText(octets: Uint8Array, start: number, end: number): number {
    const begins = matchSignature(SIGNATURE_1, octets, start, end);
    if (begins !== SIGNATURE_1.length) return begins;
    this.#begin(1);
    const last = Math.min(end, start + MAX_LINE_OCTETS);
    const lineFeed = octets.subarray(start, last).indexOf(LF);
    if (lineFeed < 0) return end - start < MAX_LINE_OCTETS ? NO_HEADER.INCOMPLETE : NO_HEADER.MALFORMED;
    if (octets[start + lineFeed - 1] !== CR) return NO_HEADER.MALFORMED;
    const line = Buffer.from(octets.buffer, octets.byteOffset + start, lineFeed - 1).toString('latin1');
    return this.#readLine(line.split(' ')) ? lineFeed + 1 : NO_HEADER.MALFORMED;
  }

  /** @returns whether the words are those of a header */
  #readLine([signature, protocol, ...words]: readonly string[]): boolean {
    if (signature !== 'PROXY') return false;
    // What follows says nothing.
    if (protocol === 'UNKNOWN') return true;
    const size = protocol === 'TCP4' ? ADDRESS.IPV4 : protocol === 'TCP6' ? ADDRESS.IPV6 : 0;
    const [source, destination, sourcePort, destinationPort, ...more] = words;
    if (size === 0 || more.length > 0) return false;
    return (
      writeWords(this.source, source, sourcePort, size) &&
      writeWords(this.destination, destination, destinationPort, size)
    );
  }
}

/** @returns the length of the signature, INCOMPLETE, or NONE */
function matchSignature(signature: Uint8Array, octets: Uint8Array, start: number, end: number): number {
  const compared = Math.min(signature.length, end - start);
  for (let place = 0; place < compared; place++)
    if (octets[start + place] !== signature[place]) return NO_HEADER.NONE;
  return compared < signature.length ? NO_HEADER.INCOMPLETE : signature.length;
}

/** Whether family and protocol are one of those that the document defines. */
function isKind(kind: number): boolean {
  const family = kind & 0xf0;
  const protocol = kind & 0x0f;
  if (kind === 0) return true;
  const isFamily = family === FAMILY.IPV4 || family === FAMILY.IPV6 || family === FAMILY.UNIX;
  return isFamily && (protocol === PROTOCOL.STREAM || protocol === PROTOCOL.DATAGRAM);
}

/** The octets of the addresses of a client; infinite: it has none that we know. */
function findBlock(kind: number): number {
  const family = kind & 0xf0;
  if (family === FAMILY.IPV4) return BLOCK.IPV4;
  return family === FAMILY.IPV6 ? BLOCK.IPV6 : Number.POSITIVE_INFINITY;
}

/**
 * Writes a socket address: for one of IPv6 that maps one of IPv4, the latter.
 *
 * @param size of the address at `at`: 4 or 16 octets @param portAt where the port begins in `ports`
 */
function writeAddress(
  into: HeaderAddress,
  octets: Uint8Array,
  at: number,
  size: number,
  ports: Uint8Array,
  portAt: number,
): void {
  const isMapped = size === ADDRESS.IPV6 && isMappedAddress(octets, at);
  const from = isMapped ? at + ADDRESS.IPV6 - ADDRESS.IPV4 : at;
  const isIpv4 = isMapped || size === ADDRESS.IPV4;
  const target = into.octets;
  target.fill(0);
  target[0] = isIpv4 ? AF_INET : AF_INET6;
  target[2] = ports[portAt] ?? 0;
  target[3] = ports[portAt + 1] ?? 0;
  const to = isIpv4 ? IPV4_AT : IPV6_AT;
  const count = isIpv4 ? ADDRESS.IPV4 : ADDRESS.IPV6;
  for (let octet = 0; octet < count; octet++) target[to + octet] = octets[from + octet] ?? 0;
  into.length = isIpv4 ? SOCKADDR_IN_OCTETS : SOCKADDR_IN6_OCTETS;
}

/** @returns whether the words are an address of that size and a port */
function writeWords(into: HeaderAddress, address = '', port = '', size: number): boolean {
  const octets = parseAddress(address);
  const number = PORT.test(port) ? Number(port) : Number.POSITIVE_INFINITY;
  if (octets?.length !== size || number > MAX_PORT) return false;
  writeAddress(into, octets, 0, size, Uint8Array.of(number >> 8, number), 0);
  return true;
}
