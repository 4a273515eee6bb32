/**
 * Cached answers of all sizes, as an upstream may choose them: from one that fits into any response to one longer than
 * any seat, with TTLs at many offsets.
 */
import type { AnswerBody, CachedAnswer, ViewId } from '../types.ts';
import type { TableWriter } from '../writer.ts';
import type { SeatQuestion } from './packet-seats.ts';
import { cachedAddress, wire } from './table-answers.ts';

const TXT = 16;
/** Records of a set of addresses, 16 octets each. */
const ADDRESSES = [1, 2, 3, 12, 25, 29, 31, 70, 78, 300, 600, 3000] as const;
/** Octets of the strings of TXT records, repeated, and the number of records. */
const STRINGS: readonly (readonly [lengths: readonly number[], count: number])[] = [
  [[0], 60],
  [[1, 2, 3, 250, 255], 8],
  [[200, 7, 31], 200],
  [[255], 240],
  [[13, 64, 5, 128, 90, 1], 400],
];

/** @param suffix of their names; @param lifetime in seconds */
export function hostileSets(suffix: string, lifetime: number): readonly CachedAnswer[] {
  return [
    ...ADDRESSES.map((count) => addressSet(`set-${count}.${suffix}`, count, lifetime)),
    ...STRINGS.map(([lengths, count], index) => textSet(`text-${index}.${suffix}`, lengths, count, lifetime)),
  ];
}

/** The questions that `hostileSets` answers. */
export function questionsOfHostileSets(suffix: string): readonly SeatQuestion[] {
  return [
    ...ADDRESSES.map((count) => ({ name: `set-${count}.${suffix}`, type: 1 })),
    ...STRINGS.map((_, index) => ({ name: `text-${index}.${suffix}`, type: TXT })),
  ];
}

/** Stores them in the cache of a view. @throws Error if one does not fit, since the test would then show no result */
export function cacheHostileSets(
  table: TableWriter,
  suffix: string,
  lifetime: number,
  now: number,
  view?: ViewId,
): void {
  for (const answer of hostileSets(suffix, lifetime))
    if (!table.cache(answer, now, view))
      throw new Error(`no room in the cache: ${answer.body.bytes.length} octets`);
}

/** All its addresses are equal, so that the rotation does not show. */
function addressSet(name: string, count: number, lifetime: number): CachedAnswer {
  const one = cachedAddress(name, '192.0.2.1', lifetime);
  const { bytes } = one.body;
  const all = new Uint8Array(bytes.length * count);
  for (let index = 0; index < count; index++) all.set(bytes, index * bytes.length);
  const rotation = count > 1 ? { start: 0, stride: bytes.length, count } : undefined;
  return {
    ...one,
    body: { ...one.body, answerCount: count, bytes: all, rotation },
    ttlOffsets: Array.from({ length: count }, (_, index) => index * bytes.length + 6),
  };
}

function textSet(name: string, lengths: readonly number[], count: number, lifetime: number): CachedAnswer {
  const octets: number[] = [];
  const ttlOffsets: number[] = [];
  for (let index = 0; index < count; index++) {
    const length = lengths[index % lengths.length] ?? 0;
    ttlOffsets.push(octets.length + 6);
    octets.push(0xc0, 12, 0, TXT, 0, 1, 0, 0, lifetime >> 8, lifetime & 0xff, (length + 1) >> 8);
    octets.push((length + 1) & 0xff, length, ...new Array<number>(length).fill(0x78));
  }
  const body: AnswerBody = {
    rcode: 0,
    authoritative: false,
    authenticData: false,
    answerCount: count,
    authorityCount: 0,
    additionalCount: 0,
    bytes: Uint8Array.from(octets),
    rotation: undefined,
  };
  return { ...cachedAddress(name, '192.0.2.1', lifetime), name: wire(name), type: TXT, body, ttlOffsets };
}
