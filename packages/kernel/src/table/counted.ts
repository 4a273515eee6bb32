/**
 * The buckets that answers are counted in: types, sizes, durations. See `layout.ts` for their places.
 */
import { TYPE } from '@portolan/dns/types.ts';
import { TYPE_BUCKETS } from './layout.ts';

/** The types that have counters of their own, in the order of their buckets. */
export const COUNTED_TYPES: readonly number[] = [
  TYPE.A,
  TYPE.AAAA,
  TYPE.PTR,
  TYPE.SRV,
  TYPE.TXT,
  TYPE.CNAME,
  TYPE.NS,
  TYPE.SOA,
  TYPE.MX,
  TYPE.HTTPS,
  TYPE.SVCB,
  TYPE.NAPTR,
  TYPE.ANY,
  TYPE.DS,
  // DNSKEY
  48,
];

/** Upper ends of sizes in octets, each inclusive. */
export const SIZE_BOUNDS: readonly number[] = [
  0, 512, 1024, 1500, 2048, 4096, 8192, 12_288, 16_384, 20_480, 24_576, 28_672, 32_768, 36_864, 40_960,
  45_056, 49_152, 53_248, 57_344, 61_440, 65_536,
];
/** Upper ends of durations in milliseconds, each inclusive; a last bucket is unbounded. */
export const DURATION_BOUNDS: readonly number[] = [
  1, 3, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000,
];

export const OTHER_TYPES = TYPE_BUCKETS - 1;
/** Bucket by type for the low types, which make up nearly all traffic. */
export const BUCKET_OF_TYPE: Uint8Array = new Uint8Array(256).fill(OTHER_TYPES);
for (const [bucket, type] of COUNTED_TYPES.entries()) BUCKET_OF_TYPE[type] = bucket;

/** Answers of up to this size, nearly all, are not counted by size: their number is total less the rest. */
export const USUAL_OCTETS = 512;

/** Upper ends of query sizes in octets, each inclusive; a last bucket is unbounded. */
export const QUERY_SIZE_BOUNDS: readonly number[] = [
  0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16e3, 32e3, 48e3, 64e3,
];
/** Likewise: nearly all queries have at most this size. */
export const USUAL_QUERY_OCTETS = 100;

/** The TC bit in a header's second word. */
export const TRUNCATED = 0x0200;
