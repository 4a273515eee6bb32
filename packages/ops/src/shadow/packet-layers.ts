/**
 * From a captured packet to the data of its UDP datagram: link layer, IPv4 or IPv6, UDP. Octets are foreign: nothing is read beyond
 * their end.
 */
import { uint16At } from '@portolan/dns/header.ts';

/** Link types, as tcpdump.org lists them. */
export const LINK_TYPE = {
  ETHERNET: 1,
  RAW_BSD: 12,
  RAW_OPENBSD: 14,
  RAW: 101,
  LINUX_COOKED: 113,
  IPV4: 228,
  IPV6: 229,
  LINUX_COOKED_2: 276,
} as const;

const ETHERTYPE = { IPV4: 0x0800, IPV6: 0x86dd, VLAN: 0x8100, PROVIDER_VLAN: 0x88a8 } as const;
const UDP = 17;
const UDP_HEADER = 8;
const MAX_VLAN_TAGS = 4;

export interface Datagram {
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** A view of the packet. */
  readonly data: Uint8Array;
}

/** @returns undefined for all that is no whole UDP datagram, fragments included */
export function readDatagram(linkType: number, packet: Uint8Array): Datagram | undefined {
  const network = networkPart(linkType, packet);
  if (network === undefined) return undefined;
  switch ((network[0] ?? 0) >> 4) {
    case 4:
      return readUdp(payloadOfIpv4(network));
    case 6:
      return readUdp(payloadOfIpv6(network));
    default:
      return undefined;
  }
}

function networkPart(linkType: number, packet: Uint8Array): Uint8Array | undefined {
  switch (linkType) {
    case LINK_TYPE.ETHERNET:
      return behindEthertype(packet, 12, 14);
    case LINK_TYPE.LINUX_COOKED:
      return behindEthertype(packet, 14, 16);
    case LINK_TYPE.LINUX_COOKED_2:
      return behindEthertype(packet, 0, 20);
    case LINK_TYPE.RAW:
    case LINK_TYPE.RAW_BSD:
    case LINK_TYPE.RAW_OPENBSD:
    case LINK_TYPE.IPV4:
    case LINK_TYPE.IPV6:
      return packet;
    default:
      return undefined;
  }
}

/** @param at where the type is @param end of the header */
function behindEthertype(packet: Uint8Array, at: number, end: number): Uint8Array | undefined {
  let type = uint16At(packet, at);
  let start = end;
  for (let tags = 0; isVlan(type) && tags < MAX_VLAN_TAGS; tags += 1) {
    type = uint16At(packet, start + 2);
    start += 4;
  }
  const isNetwork = type === ETHERTYPE.IPV4 || type === ETHERTYPE.IPV6;
  return isNetwork && start < packet.length ? packet.subarray(start) : undefined;
}

const isVlan = (type: number) => type === ETHERTYPE.VLAN || type === ETHERTYPE.PROVIDER_VLAN;

function payloadOfIpv4(packet: Uint8Array): Uint8Array | undefined {
  const headerOctets = ((packet[0] ?? 0) & 15) * 4;
  const total = uint16At(packet, 2);
  // Of a fragment the rest is missing, or what precedes it.
  const isFragment = (uint16At(packet, 6) & 0x3fff) !== 0;
  if (headerOctets < 20 || packet[9] !== UDP || isFragment || total > packet.length) return undefined;
  return packet.subarray(headerOctets, total);
}

const IPV6_HEADER = 40;
/** Hop-by-hop options, routing, destination options: each has its length in units of eight octets. */
const EXTENSIONS: ReadonlySet<number> = new Set([0, 43, 60]);
const MAX_EXTENSIONS = 8;

function payloadOfIpv6(packet: Uint8Array): Uint8Array | undefined {
  const end = IPV6_HEADER + uint16At(packet, 4);
  if (packet.length < IPV6_HEADER || end > packet.length) return undefined;
  let next = packet[6] ?? 0;
  let at = IPV6_HEADER;
  for (let count = 0; EXTENSIONS.has(next) && count < MAX_EXTENSIONS; count += 1) {
    next = packet[at] ?? 0;
    at += 8 * ((packet[at + 1] ?? 0) + 1);
  }
  return next === UDP && at <= end ? packet.subarray(at, end) : undefined;
}

function readUdp(segment: Uint8Array | undefined): Datagram | undefined {
  if (segment === undefined || segment.length < UDP_HEADER) return undefined;
  const length = uint16At(segment, 4);
  if (length < UDP_HEADER || length > segment.length) return undefined;
  return {
    sourcePort: uint16At(segment, 0),
    destinationPort: uint16At(segment, 2),
    data: segment.subarray(UDP_HEADER, length),
  };
}
