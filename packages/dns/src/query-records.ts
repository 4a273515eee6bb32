/**
 * Checks the records after the question of a query in place: whether they are well-formed, where OPT is, and whether its options
 * are sound. Readers and the handler chain both use it, so both judge a query alike.
 *
 * Only the data of OPT and TSIG is read. All other records are skipped by their length: no handler uses them, so their data may be
 * anything.
 * Without allocations, and without following compression pointers, the work is bounded by the packet's octets.
 */
import { HEADER_OCTETS, uint16At } from './header.ts';
import { MAX_LABEL_OCTETS } from './label.ts';
import { TYPE } from './types.ts';

/** An OPT record without options (RFC 6891 section 6.1.2). */
export const OPT_OCTETS = 11;
/** Type, class, TTL and data length, after a record's owner. */
const FIXED_OCTETS = 10;

export class QueryRecords {
  /** The offset of the OPT record in the packet; 0 without one. */
  opt = 0;

  /**
   * Reads the records of a packet whose question (or its place) ends at `from`.
   *
   * @param others records in the answer and authority sections
   * @returns whether they are well-formed, at most one is OPT, its options are sound, a signature is the last (RFC 8945 section 5.1) and
   *   well-formed, and they end the packet. If not, `opt` is the last value found before the error
   */
  read(packet: Uint8Array, from: number, end: number, others: number, additionals: number): boolean {
    this.opt = 0;
    let at = from;
    for (let index = 0; index < others + additionals; index++) {
      const behindName = skipName(packet, at, end);
      if (behindName < 0 || behindName + FIXED_OCTETS > end) return false;
      const next = behindName + FIXED_OCTETS + uint16At(packet, behindName + 8);
      if (next > end) return false;
      const type = uint16At(packet, behindName);
      if (type === TYPE.OPT) {
        if (index < others || this.opt !== 0 || behindName !== at + 1) return false;
        this.opt = at;
        if (!areOptionsSound(packet, at)) return false;
      } else if (type === TYPE.TSIG) {
        const isLast = index >= others && index === others + additionals - 1;
        if (!isLast || !isSignatureSound(packet, behindName + FIXED_OCTETS, next)) return false;
      }
      at = next;
    }
    return at === end;
  }

  /** Searches OPT in any packet with a complete header, whatever its sections hold. */
  search(packet: Uint8Array, start: number, length: number): void {
    const end = start + length;
    let at = start + HEADER_OCTETS;
    this.opt = 0;
    for (let left = uint16At(packet, start + 4); left > 0; left--) {
      at = skipName(packet, at, end);
      if (at < 0) return;
      at += 4;
    }
    const others = uint16At(packet, start + 6) + uint16At(packet, start + 8);
    this.read(packet, at, end, others, uint16At(packet, start + 10));
  }
}

/** The end of the name at `at` (a compression pointer ends it); -1 if it leaves the packet or is malformed. */
export function skipName(packet: Uint8Array, at: number, end: number): number {
  let position = at;
  while (position < end) {
    const label = packet[position] ?? 0;
    if (label === 0) return position + 1;
    if (label >= 0xc0) return position + 2 <= end ? position + 2 : -1;
    if (label > MAX_LABEL_OCTETS) return -1;
    position += label + 1;
  }
  return -1;
}

/** Of the data of TSIG: the time and the fudge; the id, the error and the length of other data (RFC 8945 section 4.2). */
const BEFORE_MAC = 8;
const BEHIND_MAC = 6;

/** Whether the data of a TSIG record is filled by its fields. */
function isSignatureSound(packet: Uint8Array, from: number, end: number): boolean {
  const algorithm = skipName(packet, from, end);
  if (algorithm < 0 || algorithm + BEFORE_MAC + 2 > end) return false;
  const behindMac = algorithm + BEFORE_MAC + 2 + uint16At(packet, algorithm + BEFORE_MAC);
  if (behindMac + BEHIND_MAC > end) return false;
  return behindMac + BEHIND_MAC + uint16At(packet, behindMac + 4) === end;
}

/** EDNS Client Subnet (RFC 7871 section 6), and the prefix lengths of its address families. */
const CLIENT_SUBNET = 8;
const MAX_PREFIX = [0, 32, 128];

/**
 * Whether the options of an OPT record fill its data (RFC 6891 section 6.1.2). A client subnet must be one, as in CoreDNS. The data
 * of all other options may be anything, and so may the data of versions above 0, which are refused.
 *
 * @param opt offset of the record; its data is inside the packet
 */
export function areOptionsSound(packet: Uint8Array, opt: number): boolean {
  if (readEdnsVersion(packet, opt) > 0) return true;
  let at = opt + OPT_OCTETS;
  const end = at + uint16At(packet, opt + 9);
  while (at < end) {
    if (at + 4 > end) return false;
    const next = at + 4 + uint16At(packet, at + 2);
    if (next > end) return false;
    if (uint16At(packet, at) === CLIENT_SUBNET && !isSubnetSound(packet, at + 4, next)) return false;
    at = next;
  }
  return true;
}

/** Whether the data of a client subnet has a known family and prefixes that it can have. */
function isSubnetSound(packet: Uint8Array, at: number, end: number): boolean {
  if (at + 4 > end) return false;
  const max = MAX_PREFIX[uint16At(packet, at)] ?? -1;
  return (packet[at + 2] ?? 0) <= max && (packet[at + 3] ?? 0) <= max;
}

/** The EDNS version of the OPT record at `opt`. */
export function readEdnsVersion(packet: Uint8Array, opt: number): number {
  return packet[opt + 6] ?? 0;
}

/** The UDP size in the OPT record at `opt`. */
export function readUdpSize(packet: Uint8Array, opt: number): number {
  return uint16At(packet, opt + 3);
}

/** The DO bit of the OPT record at `opt`. */
export function isDnssecOk(packet: Uint8Array, opt: number): boolean {
  return ((packet[opt + 7] ?? 0) & 0x80) !== 0;
}

/**
 * Writes our own OPT record: version 0, without options. Never repeat options of the client: a COOKIE that comes back
 * unchanged would look like one of this server (RFC 7873 section 5.2).
 *
 * @param udpSize our UDP size
 * @param extendedRcode the upper eight bits of the response code
 * @returns where it ends
 */
export function writeOpt(
  packet: Uint8Array,
  at: number,
  udpSize: number,
  extendedRcode: number,
  dnssecOk: boolean,
): number {
  packet.fill(0, at, at + OPT_OCTETS);
  packet[at + 2] = TYPE.OPT;
  packet[at + 3] = udpSize >> 8;
  packet[at + 4] = udpSize & 0xff;
  packet[at + 5] = extendedRcode;
  packet[at + 7] = dnssecOk ? 0x80 : 0;
  return at + OPT_OCTETS;
}
