/**
 * Random case for the letters of names in queries (draft-vixie-dnsext-dns0x20): servers repeat the question as it was sent, so a
 * forger has to guess the case of each letter too, one bit a letter.
 *
 * Some servers do not repeat it so. Their replies look forged, and are asked for over TCP. When the replies for several names in
 * a row did, the server is asked with plain names for some minutes.
 */
import { HEADER_OCTETS } from '../../wire/header.ts';
import { LOWER_CASE } from '../../wire/label.ts';
import type { QueryMessage } from './query-message.ts';
import { randomId } from './random-ids.ts';

const MIN_NAMES = 3;
const MILLISECONDS_WITHOUT = 10 * 60_000;
const CASE_BIT = 0x20;
const BITS_OF_ID = 16;

/** A copy of a query with its name in random case; the query itself where no letter would differ from another. */
export function mixCase(query: QueryMessage): QueryMessage {
  const octets = query.octets.slice();
  let [bits, left] = [0, 0];
  let [hasUpper, hasLower] = [false, false];
  for (let at = HEADER_OCTETS; at < query.questionEnd - 4; at += 1) {
    const lower = LOWER_CASE[octets[at] ?? 0] ?? 0;
    // Lengths of labels are below all letters.
    if (lower < 0x61 || lower > 0x7a) continue;
    if (left === 0) [bits, left] = [randomId(), BITS_OF_ID];
    const isUpper = (bits & 1) === 1;
    [bits, left] = [bits >> 1, left - 1];
    octets[at] = isUpper ? lower & ~CASE_BIT : lower;
    if (isUpper) hasUpper = true;
    else hasLower = true;
  }
  return hasUpper && hasLower ? { ...query, octets, plain: query } : query;
}

/** Whether a reply that repeats the question repeats the case of its letters too. */
export function repeatsCase(
  packet: Uint8Array,
  start: number,
  { octets, questionEnd }: QueryMessage,
): boolean {
  for (let at = HEADER_OCTETS; at < questionEnd; at += 1) if (packet[start + at] !== octets[at]) return false;
  return true;
}

/** Gives the question of a reply the case that the client's had; names that point to it change with it. */
export function restoreCase(packet: Uint8Array, start: number, plain: QueryMessage): void {
  for (let at = HEADER_OCTETS; at < plain.questionEnd; at += 1) packet[start + at] = plain.octets[at] ?? 0;
}

/** Whether a server is asked with names in random case. */
export class CaseSupport {
  readonly #names = new Set<string>();
  #withoutUntil = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds of the monotonic clock */
  isUsed(now: number): boolean {
    return now >= this.#withoutUntil;
  }

  /** A reply repeated the case of a name: those that did not were forged, or of another server behind the same address. */
  noteKept(): void {
    if (this.#names.size > 0) this.#names.clear();
  }

  noteChanged({ octets, questionEnd }: QueryMessage, now: number): void {
    this.#names.add(
      Buffer.from(octets.subarray(HEADER_OCTETS, questionEnd)).toString('latin1').toLowerCase(),
    );
    if (this.#names.size < MIN_NAMES) return;
    this.#names.clear();
    this.#withoutUntil = now + MILLISECONDS_WITHOUT;
  }
}
