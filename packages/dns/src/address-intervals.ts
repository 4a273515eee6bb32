/**
 * Divides all addresses of a family into intervals by prefixes. A binary search then finds the prefix of an address, in
 * memory of any kind and without allocation.
 */
import { parseAddress } from './address.ts';
import type { AddressRange } from './address-range.ts';

/** 32-bit words of an address. */
export const ADDRESS_WORDS = { ipv4: 1, ipv6: 4 } as const;
export type AddressFamily = keyof typeof ADDRESS_WORDS;

/** Consecutive intervals without gaps. */
export interface AddressIntervals {
  /** The first address of each interval, in words. */
  readonly starts: Uint32Array;
  readonly values: readonly number[];
}

interface Interval {
  readonly start: bigint;
  /** The first address after it. */
  readonly end: bigint;
  readonly value: number;
}

/**
 * @param prefixes of both families; of several that hold an address the longest wins, of equal ones the last
 * @param otherwise the value of all other addresses
 */
export function divideAddresses(
  prefixes: Iterable<readonly [AddressRange, number]>,
  family: AddressFamily,
  otherwise: number,
): AddressIntervals {
  const bits = 32 * ADDRESS_WORDS[family];
  const boundaries = new Map<bigint, number>([[0n, otherwise]]);
  const open: Interval[] = [];
  const closeUntil = (address: bigint): void => {
    for (let last = open.at(-1); last !== undefined && last.end <= address; last = open.at(-1)) {
      open.pop();
      boundaries.set(last.end, open.at(-1)?.value ?? otherwise);
    }
  };
  for (const interval of listIntervals(prefixes, bits)) {
    closeUntil(interval.start);
    boundaries.set(interval.start, interval.value);
    open.push(interval);
  }
  closeUntil(1n << BigInt(bits));
  boundaries.delete(1n << BigInt(bits));
  const starts = new Uint32Array(boundaries.size * ADDRESS_WORDS[family]);
  let word = 0;
  for (const start of boundaries.keys())
    for (let shift = bits - 32; shift >= 0; shift -= 32)
      starts[word++] = Number((start >> BigInt(shift)) & 0xffff_ffffn);
  return { starts, values: [...boundaries.values()] };
}

/** Sorted so that each lies within an earlier one, or begins after it. */
function listIntervals(
  prefixes: Iterable<readonly [AddressRange, number]>,
  bits: number,
): readonly Interval[] {
  const intervals: Interval[] = [];
  for (const [{ address, prefix }, value] of prefixes) {
    const octets = parseAddress(address);
    if (octets === undefined || octets.length * 8 !== bits) continue;
    const shift = BigInt(bits - prefix);
    const start = (BigInt(`0x${Buffer.from(octets).toString('hex')}`) >> shift) << shift;
    intervals.push({ start, end: start + (1n << shift), value });
  }
  return intervals.sort((one, other) => compare(one.start, other.start) || compare(other.end, one.end));
}

const compare = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0);

/**
 * The interval of an address.
 *
 * @param memory holds the starts of the intervals
 * @param first the word at which they begin
 * @param count of intervals, from 1
 * @param words of an address
 * @param at where the address begins in `octets`
 * @returns 0 to count - 1
 */
export function findInterval(
  memory: Uint32Array,
  first: number,
  count: number,
  words: number,
  octets: Uint8Array,
  at: number,
): number {
  let low = 0;
  for (let high = count; high - low > 1; ) {
    const middle = (low + high) >>> 1;
    if (isAtOrBehind(memory, first + middle * words, words, octets, at)) low = middle;
    else high = middle;
  }
  return low;
}

function isAtOrBehind(
  memory: Uint32Array,
  start: number,
  words: number,
  octets: Uint8Array,
  at: number,
): boolean {
  for (let word = 0; word < words; word++) {
    const own = wordAt(octets, at + word * 4);
    const other = memory[start + word] ?? 0;
    if (own !== other) return own > other;
  }
  return true;
}

function wordAt(octets: Uint8Array, at: number): number {
  return (
    (((octets[at] ?? 0) << 24) |
      ((octets[at + 1] ?? 0) << 16) |
      ((octets[at + 2] ?? 0) << 8) |
      (octets[at + 3] ?? 0)) >>>
    0
  );
}
