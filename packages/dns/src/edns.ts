/**
 * The OPT record (RFC 6891 section 6.1): a record in shape, a part of the header in meaning.
 */
import type { OctetReader } from './octet-reader.ts';
import type { OctetWriter } from './octet-writer.ts';
import { OPT_OCTETS } from './query-records.ts';
import { type AbsoluteName, type Edns, type Message, TYPE } from './types.ts';
import { WireError } from './wire-error.ts';

/** The DO bit, in the lower half of the TTL field. */
const DNSSEC_OK = 0x8000;

/** The length of an OPT record in octets. */
export function ednsLength(edns: Edns): number {
  return edns.options.reduce((length, option) => length + 4 + option.data.length, OPT_OCTETS);
}

/** Reads an OPT record from its class on. @throws WireError */
export function readEdns(owner: AbsoluteName, from: OctetReader): Edns {
  if (owner !== '.') throw new WireError('OPT record that is not at the root', from.position);
  const udpSize = from.uint16();
  const extendedRcode = from.uint8();
  const version = from.uint8();
  const dnssecOk = (from.uint16() & DNSSEC_OK) !== 0;
  const outerEnd = from.end;
  const length = from.uint16();
  if (length > from.remaining) throw new WireError('OPT record leaves the message', from.position);
  from.end = from.position + length;
  const options: { code: number; data: Uint8Array }[] = [];
  while (from.remaining > 0) options.push({ code: from.uint16(), data: from.bytes(from.uint16()) });
  from.end = outerEnd;
  return { version, udpSize, dnssecOk, extendedRcode, options };
}

export function writeEdns(edns: Edns, into: OctetWriter): void {
  into.uint8(0);
  into.uint16(TYPE.OPT);
  into.uint16(edns.udpSize);
  into.uint8(edns.extendedRcode);
  into.uint8(edns.version);
  into.uint16(edns.dnssecOk ? DNSSEC_OK : 0);
  into.uint16(ednsLength(edns) - OPT_OCTETS);
  for (const option of edns.options) {
    into.uint16(option.code);
    into.uint16(option.data.length);
    into.bytes(option.data);
  }
}

/** The largest response code that fits the header, and needs no OPT record. */
export const MAX_PLAIN_RCODE = 15;

/** The whole response code of a message, with the bits from EDNS (RFC 6891 section 6.1.3). */
export function toFullRcode({ header, edns }: Pick<Message, 'header' | 'edns'>): number {
  return header.rcode | ((edns?.extendedRcode ?? 0) << 4);
}
