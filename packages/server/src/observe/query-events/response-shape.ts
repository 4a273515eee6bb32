/**
 * Reads the parts of a response that CoreDNS's `log` shows: its size without name compression and OPT record, and whether its
 * authority section has a SOA record.
 */
import { HEADER_OCTETS, uint16At } from '@portolan/dns/header.ts';
import { TYPE } from '@portolan/dns/types.ts';

export interface ResponseShape {
  readonly octets: number;
  readonly hasSoa: boolean;
}

const POINTER = 0xc0;
/** The octets of type, class, TTL and data length. */
const RECORD_FIXED = 10;
const QUESTION_FIXED = 4;
/** The octets of the data before its name, for types that have one. */
const BEFORE_NAME: ReadonlyMap<number, number> = new Map([
  [TYPE.NS, 0],
  [TYPE.CNAME, 0],
  [TYPE.PTR, 0],
  [TYPE.MX, 2],
  [TYPE.SRV, 6],
  // DNAME
  [39, 0],
]);
const SOA_NUMBERS = 20;

/** @param message a message that this server has written */
export function readResponseShape(message: Uint8Array): ResponseShape {
  const questions = uint16At(message, 4);
  const answers = uint16At(message, 6);
  const authorities = uint16At(message, 8);
  const additionals = uint16At(message, 10);
  let at = HEADER_OCTETS;
  let octets = HEADER_OCTETS;
  for (let left = questions; left > 0; left--) {
    octets += nameOctets(message, at) + QUESTION_FIXED;
    at = nameEnd(message, at) + QUESTION_FIXED;
  }
  let hasSoa = false;
  const first = answers;
  const end = first + authorities;
  for (let record = 0; record < end + additionals; record++) {
    const fixed = nameEnd(message, at);
    const type = uint16At(message, fixed);
    if (type !== TYPE.OPT) octets += nameOctets(message, at) + RECORD_FIXED + dataOctets(message, fixed);
    if (type === TYPE.SOA && record >= first && record < end) hasSoa = true;
    at = fixed + RECORD_FIXED + uint16At(message, fixed + 8);
  }
  return { octets, hasSoa };
}

/** @param fixed the offset of the record's type */
function dataOctets(message: Uint8Array, fixed: number): number {
  const type = uint16At(message, fixed);
  const data = fixed + RECORD_FIXED;
  if (type === TYPE.SOA) {
    const mailbox = nameEnd(message, data);
    return nameOctets(message, data) + nameOctets(message, mailbox) + SOA_NUMBERS;
  }
  const before = BEFORE_NAME.get(type);
  return before === undefined ? uint16At(message, fixed + 8) : before + nameOctets(message, data + before);
}

/** The end of a name that starts at this offset. */
function nameEnd(message: Uint8Array, start: number): number {
  let at = start;
  for (let label = message[at] ?? 0; label !== 0; label = message[at] ?? 0) {
    if (label >= POINTER) return at + 2;
    at += label + 1;
  }
  return at + 1;
}

/** The octets of a name without compression. */
function nameOctets(message: Uint8Array, start: number): number {
  let octets = 1;
  let at = start;
  for (let label = message[at] ?? 0; label !== 0; label = message[at] ?? 0) {
    if (label >= POINTER) at = ((label & 0x3f) << 8) | (message[at + 1] ?? 0);
    else {
      octets += label + 1;
      at += label + 1;
    }
  }
  return octets;
}
