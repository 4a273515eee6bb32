/**
 * A question as one flat string, for use as a `Map` key. It is shorter than an object, costs one allocation, and keeps
 * no other memory alive.
 *
 *     octets 0 to 3   type and class    octet 4   `DO` | `CD` << 1    octets 5 …   the name: lower case, uncompressed
 */
import type { Brand } from '../base/brand.ts';
import type { CachedQuestion } from '../table/types.ts';
import { HEADER_OCTETS } from '../wire/header.ts';
import { LOWER_CASE, MAX_NAME_OCTETS } from '../wire/label.ts';
import type { WireName } from '../wire/types.ts';

/** One character per octet. */
export type QuestionText = Brand<string, 'QuestionText'>;

const NAME = 5;
const DNSSEC_OK = 1;
const CHECKING_DISABLED = 2;

/** Scratch memory; its content is not kept between calls. */
const scratch = Buffer.alloc(NAME + MAX_NAME_OCTETS);

export function textOfQuestion({
  name,
  type,
  class: dnsClass,
  dnssecOk,
  checkingDisabled,
}: CachedQuestion): QuestionText {
  scratch.set(name, NAME);
  return takeText(name.length, (type << 16) | dnsClass, dnssecOk, checkingDisabled);
}

/** A packet with one question, whose name is uncompressed. */
export interface QuestionOctets {
  readonly octets: Uint8Array;
  readonly start: number;
  /** The end of its question, relative to `start`. */
  readonly questionEnd: number;
}

/** The same from a packet's octets. */
export function textOfPacket(
  { octets, start, questionEnd }: QuestionOctets,
  dnssecOk: boolean,
  checkingDisabled: boolean,
): QuestionText {
  const nameAt = start + HEADER_OCTETS;
  const nameEnd = start + questionEnd - 4;
  for (let at = nameAt; at < nameEnd; at += 1) scratch[NAME + at - nameAt] = LOWER_CASE[octets[at] ?? 0] ?? 0;
  const octet = (behind: number) => octets[nameEnd + behind] ?? 0;
  const typeAndClass = (octet(0) << 24) | (octet(1) << 16) | (octet(2) << 8) | octet(3);
  return takeText(nameEnd - nameAt, typeAndClass, dnssecOk, checkingDisabled);
}

/** The question that a text was made from. */
export function questionOfText(text: QuestionText): CachedQuestion {
  const octets = Buffer.from(text, 'latin1');
  const flags = octets.readUInt8(NAME - 1);
  return {
    // It was a WireName when the text was made.
    name: octets.subarray(NAME) as Uint8Array as WireName,
    type: octets.readUInt16BE(0),
    class: octets.readUInt16BE(2),
    dnssecOk: (flags & DNSSEC_OK) !== 0,
    checkingDisabled: (flags & CHECKING_DISABLED) !== 0,
  };
}

function takeText(
  nameOctets: number,
  typeAndClass: number,
  dnssecOk: boolean,
  checkingDisabled: boolean,
): QuestionText {
  scratch.writeInt32BE(typeAndClass, 0);
  scratch[NAME - 1] = (dnssecOk ? DNSSEC_OK : 0) | (checkingDisabled ? CHECKING_DISABLED : 0);
  return scratch.toString('latin1', 0, NAME + nameOctets) as QuestionText;
}
