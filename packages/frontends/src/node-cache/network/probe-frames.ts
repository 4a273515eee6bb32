/**
 * Ethernet frames of probes: a query over UDP, and the first and the last packet of a TCP connection. And what the answers say.
 *
 * IPv4 (RFC 791), IPv6 (RFC 8200), UDP (RFC 768), TCP (RFC 9293).
 */
import { AddressError, formatAddress, parseAddress } from '@portolan/dns/address.ts';

export interface FrameEnds {
  /** Hardware addresses, six octets each. */
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  /** IP addresses of one family. */
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** A packet that arrived. */
export interface Arrival {
  readonly protocol: 'udp' | 'tcp';
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** Of UDP, what it carries. */
  readonly payload: Uint8Array;
  /** Of TCP. */
  readonly flags: number;
  readonly acknowledged: number;
}

export const TCP_SYN = 0x02;
export const TCP_RST = 0x04;
export const TCP_ACK = 0x10;

const ETHERNET_OCTETS = 14;
const ETHERTYPE_IPV4 = 0x0800;
const ETHERTYPE_IPV6 = 0x86dd;
const IPV4_OCTETS = 20;
const IPV6_OCTETS = 40;
const UDP_OCTETS = 8;
const TCP_OCTETS = 20;
const PROTOCOLS = { udp: 17, tcp: 6 } as const;
const HOP_LIMIT = 64;
const WINDOW = 1024;

export function udpFrame(ends: FrameEnds, payload: Uint8Array): Uint8Array {
  const segment = new Uint8Array(UDP_OCTETS + payload.length);
  const view = new DataView(segment.buffer);
  view.setUint16(0, ends.sourcePort);
  view.setUint16(2, ends.destinationPort);
  view.setUint16(4, segment.length);
  segment.set(payload, UDP_OCTETS);
  const sum = segmentChecksum(ends, 'udp', segment);
  // Zero would say that there is no checksum.
  view.setUint16(6, sum === 0 ? 0xffff : sum);
  return encodeEthernetFrame(ends, 'udp', segment);
}

export function tcpFrame(ends: FrameEnds, flags: number, sequence: number): Uint8Array {
  const segment = new Uint8Array(TCP_OCTETS);
  const view = new DataView(segment.buffer);
  view.setUint16(0, ends.sourcePort);
  view.setUint16(2, ends.destinationPort);
  view.setUint32(4, sequence);
  segment[12] = (TCP_OCTETS / 4) << 4;
  segment[13] = flags;
  view.setUint16(14, WINDOW);
  view.setUint16(16, segmentChecksum(ends, 'tcp', segment));
  return encodeEthernetFrame(ends, 'tcp', segment);
}

/** @returns undefined for a frame of anything else, and for one that is cut */
export function readFrame(frame: Uint8Array): Arrival | undefined {
  const packet = readPacket(frame);
  if (packet === undefined) return undefined;
  const { segment, source, destination } = packet;
  const protocol = (['udp', 'tcp'] as const).find((name) => PROTOCOLS[name] === packet.protocol);
  if (protocol === undefined) return undefined;
  if (segment.length < (protocol === 'udp' ? UDP_OCTETS : TCP_OCTETS)) return undefined;
  const view = new DataView(segment.buffer, segment.byteOffset, segment.length);
  return {
    protocol,
    source,
    destination,
    sourcePort: view.getUint16(0),
    destinationPort: view.getUint16(2),
    payload: protocol === 'udp' ? segment.subarray(UDP_OCTETS) : new Uint8Array(),
    flags: protocol === 'tcp' ? (segment[13] ?? 0) : 0,
    acknowledged: protocol === 'tcp' ? view.getUint32(8) : 0,
  };
}

interface ReadPacket {
  readonly protocol: number;
  readonly source: string;
  readonly destination: string;
  readonly segment: Uint8Array;
}

function readPacket(frame: Uint8Array): ReadPacket | undefined {
  if (frame.length < ETHERNET_OCTETS + IPV4_OCTETS) return undefined;
  const type = new DataView(frame.buffer, frame.byteOffset).getUint16(12);
  const packet = frame.subarray(ETHERNET_OCTETS);
  const address = (from: number, octets: number) => formatAddress(packet.slice(from, from + octets));
  if (type === ETHERTYPE_IPV4) {
    const header = ((packet[0] ?? 0) & 0x0f) * 4;
    const segment = packet.subarray(header);
    return { protocol: packet[9] ?? 0, source: address(12, 4), destination: address(16, 4), segment };
  }
  if (type !== ETHERTYPE_IPV6 || packet.length < IPV6_OCTETS) return undefined;
  const segment = packet.subarray(IPV6_OCTETS);
  return { protocol: packet[6] ?? 0, source: address(8, 16), destination: address(24, 16), segment };
}

function encodeEthernetFrame(
  ends: FrameEnds,
  protocol: keyof typeof PROTOCOLS,
  segment: Uint8Array,
): Uint8Array {
  const source = requireAddress(ends.source);
  const header =
    source.length === 4
      ? ipv4Header(source, requireAddress(ends.destination), PROTOCOLS[protocol], segment.length)
      : ipv6Header(source, requireAddress(ends.destination), PROTOCOLS[protocol], segment.length);
  const frame = new Uint8Array(ETHERNET_OCTETS + header.length + segment.length);
  frame.set(ends.to, 0);
  frame.set(ends.from, 6);
  new DataView(frame.buffer).setUint16(12, source.length === 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6);
  frame.set(header, ETHERNET_OCTETS);
  frame.set(segment, ETHERNET_OCTETS + header.length);
  return frame;
}

function ipv4Header(
  source: Uint8Array,
  destination: Uint8Array,
  protocol: number,
  length: number,
): Uint8Array {
  const header = new Uint8Array(IPV4_OCTETS);
  const view = new DataView(header.buffer);
  header[0] = 0x45;
  view.setUint16(2, IPV4_OCTETS + length);
  header[8] = HOP_LIMIT;
  header[9] = protocol;
  header.set(source, 12);
  header.set(destination, 16);
  view.setUint16(10, checksum([header]));
  return header;
}

function ipv6Header(
  source: Uint8Array,
  destination: Uint8Array,
  protocol: number,
  length: number,
): Uint8Array {
  const header = new Uint8Array(IPV6_OCTETS);
  header[0] = 0x60;
  new DataView(header.buffer).setUint16(4, length);
  header[6] = protocol;
  header[7] = HOP_LIMIT;
  header.set(source, 8);
  header.set(destination, 24);
  return header;
}

/** Over a pseudo header too: the addresses, the length and the protocol. The sum is that of both families, whose fields differ in width. */
function segmentChecksum(ends: FrameEnds, protocol: keyof typeof PROTOCOLS, segment: Uint8Array): number {
  const pseudo = new Uint8Array(4);
  const view = new DataView(pseudo.buffer);
  view.setUint16(0, PROTOCOLS[protocol]);
  view.setUint16(2, segment.length);
  return checksum([requireAddress(ends.source), requireAddress(ends.destination), pseudo, segment]);
}

/** RFC 1071. @param parts of which only the last may have an odd length */
function checksum(parts: readonly Uint8Array[]): number {
  let sum = 0;
  for (const part of parts)
    for (const [at, octet] of part.entries()) sum += at % 2 === 0 ? octet << 8 : octet;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

function requireAddress(address: string): Uint8Array {
  const octets = parseAddress(address);
  if (octets === undefined) throw new AddressError(address);
  return octets;
}
