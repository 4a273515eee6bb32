/**
 * The question of a reply that a reader handed over.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { LOWER_CASE, MAX_NAME_OCTETS } from '@portolan/dns/label.ts';
import { keyOfWire } from '@portolan/dns/name-wire.ts';
import type { WireName } from '@portolan/dns/types.ts';
import type { QuestionKey } from '../question-key.ts';
import { FILL_FLAG, type FillConsumer } from './fill-ring.ts';

const name = new Uint8Array(MAX_NAME_OCTETS);

/** Readers only forward questions with RD. */
export function questionOfFill({ octets, start, questionEnd, flags }: FillConsumer): QuestionKey {
  const nameEnd = questionEnd - 4;
  for (let at = HEADER_OCTETS; at < nameEnd; at += 1)
    name[at - HEADER_OCTETS] = LOWER_CASE[octets[start + at] ?? 0] ?? 0;
  const uint16 = (at: number) => ((octets[start + at] ?? 0) << 8) | (octets[start + at + 1] ?? 0);
  return {
    // The reader has checked it as a name.
    name: keyOfWire(name.subarray(0, nameEnd - HEADER_OCTETS) as WireName),
    type: uint16(nameEnd),
    class: uint16(nameEnd + 2),
    dnssecOk: (flags & FILL_FLAG.DNSSEC_OK) !== 0,
    checkingDisabled: (flags & FILL_FLAG.CHECKING_DISABLED) !== 0,
    recursionDesired: true,
  };
}
