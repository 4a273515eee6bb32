/**
 * Random case for letters of names in queries (draft-vixie-dnsext-dns0x20). Servers repeat the question with its case,
 * so a forger also has to guess one bit per letter.
 *
 * Some servers do not preserve the case. Their replies look forged, and the query is repeated over TCP. After that
 * happens for several names in a row, the server gets plain names for some minutes.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { LOWER_CASE } from '@portolan/dns/label.ts';
import type { QueryMessage } from './query-message.ts';
import { randomId } from './random-ids.ts';

const MIN_NAMES = 3;
const MILLISECONDS_WITHOUT = 10 * 60_000;
const CASE_BIT = 0x20;
const BITS_OF_ID = 16;

/** A copy of a query with its name in random case; the query itself if the case would not change. */
export function mixCase(query: QueryMessage): QueryMessage {
  const octets = query.octets.slice();
  let bits = 0;
  let left = 0;
  let hasUpper = false;
  let hasLower = false;
  for (let at = HEADER_OCTETS; at < query.questionEnd - 4; at += 1) {
    const lower = LOWER_CASE[octets[at] ?? 0] ?? 0;
    // Octets of label lengths are below all letters.
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

/** Whether a reply that repeats the question also repeats its case. */
export function repeatsCase(
  packet: Uint8Array,
  start: number,
  { octets, questionEnd }: QueryMessage,
): boolean {
  for (let at = HEADER_OCTETS; at < questionEnd; at += 1) if (packet[start + at] !== octets[at]) return false;
  return true;
}

/** Restores the client's case in the question of a reply, and so in names that point to it. */
export function restoreCase(packet: Uint8Array, start: number, plain: QueryMessage): void {
  for (let at = HEADER_OCTETS; at < plain.questionEnd; at += 1) packet[start + at] = plain.octets[at] ?? 0;
}

/** Whether to send a server names in random case. */
export class CaseSupport {
  readonly #names = new Set<string>();
  #withoutUntil = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds of the monotonic clock */
  isUsed(now: number): boolean {
    return now >= this.#withoutUntil;
  }

  /** A reply preserved the case of a name: earlier ones that did not were forged, or of another server behind the same address. */
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
