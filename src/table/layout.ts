/**
 * Where everything lies in the table's memory. Writers and readers share these offsets and nothing else.
 *
 * The memory is one fixed reservation: a header, then blocks of 16-octet units handed out by the arena. A *place* is an
 * offset in such units, so that 31 bits reach 32 GiB. All numbers are in the byte order of the machine.
 *
 * Header, in 32-bit words:
 *
 *     0   the index: its place in pages of 4 KiB << 5 | log2 of its slots; replaced whole with one store
 *     1   the seed of all hashes
 *     2   the most labels of any name node
 *     3   the longest TTL that clients are told of a cached answer
 *     16  per zone: the place of its terms (0: no such zone)
 *     128 per reader, 16 words apart: its epoch, odd while it reads
 *
 * Behind the header, per reader, its counters. The index is `slots` words (0 empty, -1 removed, else a place) and then
 * as many octets of recency. A reader sets a recency octet when it uses a cached answer; eviction clears it.
 *
 * A name node:                                      A cached answer:
 *
 *     0   hash                                          0   hash
 *     4   name length | kind << 8 | below << 16         4   name length | kind << 8
 *         | asks for other types << 24
 *     8   zone | metrics id << 8 | types << 16          8   type | class << 16
 *     12  octets of the whole block                     12  octets of the whole block
 *     16  per type: type, octets from the block's       16  second of storing
 *         start to its body                             20  second of expiry
 *     ..  the name, padded with zeros to a word         24  flags | metrics id << 8 | number of TTLs << 16
 *     ..  the bodies                                    28  the body's octets from the block's start
 *                                                       32  second at which its TTL ended, or will
 *                                                       36  the name, padded; the TTLs' offsets (16 bits); the body
 *
 * A body:
 *
 *     0   rcode | authoritative << 4
 *     4   answers | authorities << 16
 *     8   additionals | stride of the rotation << 16
 *     12  start of the rotation | its count << 16
 *     16  octets of the records, which follow
 *
 * The terms of a zone:
 *
 *     0   flags
 *     4   apex length | length of the SOA record << 16
 *     8   octets from the block's start to the record | pointers to mend << 16
 *     12  octets of the whole block
 *     16  offsets (16 bits) inside the record of compression pointers to the apex; then the record
 */
export const HEADER = { INDEX: 0, SEED: 1, MOST_LABELS: 2, MOST_TTL: 3, ZONES: 16, EPOCHS: 128 } as const;

export const MOST_ZONES = 64;
export const MOST_READERS = 32;
/** Words from one reader's epoch to the next: a cache line, so that readers do not slow each other down. */
export const EPOCH_STRIDE = 16;

/** Types that are counted by themselves; the last bucket is every other type. */
export const TYPE_BUCKETS = 16;
export const RCODE_BUCKETS = 16;
export const METRICS_IDS = 16;
/**
 * The counters of a reader, in words. A group is a metrics id, for questions for PTR those of the upper half:
 *
 *     durations     group, bucket (16)
 *     sizes         group, bucket (32)
 *     answers       metrics id, whether truncated, type, rcode
 *     octets        group: 64 bits, a floating point number
 *     milliseconds  likewise
 */
export const COUNTERS = {
  DURATIONS: 0,
  SIZES: 512,
  ANSWERS: 1536,
  OCTETS: 9728,
  MILLISECONDS: 9792,
  WORDS: 10_240,
} as const;

const HEADER_OCTETS = 4096;
const COUNTERS_START = HEADER_OCTETS;
export const ARENA_START = COUNTERS_START + MOST_READERS * COUNTERS.WORDS * 4;

/** The word at which a reader's counters begin. */
export const countersOf = (reader: number): number => (COUNTERS_START >> 2) + reader * COUNTERS.WORDS;
/** The word of a reader's epoch. */
export const epochOf = (reader: number): number => HEADER.EPOCHS + reader * EPOCH_STRIDE;

/** The longest TTL there is (RFC 2181 section 8): no bound. */
export const LONGEST_TTL = 2 ** 31 - 1;

export const UNIT = 16;
export const UNIT_SHIFT = 4;
export const PAGE = 4096;
export const PAGE_SHIFT = 12;

export const EMPTY = 0;
export const REMOVED = -1;
/** How far from its hash an entry may lie. What does not fit makes the index grow, or is not cached. */
export const PROBES = 64;

export const KIND = { NODE: 1, CACHED: 2 } as const;
export const BELOW_COMPLETE = 0;
export const BELOW_ASK_ANY = 255;

export const NODE = { HASH: 0, SHAPE: 4, ZONE: 8, SIZE: 12, TYPES: 16 } as const;
export const CACHED = {
  HASH: 0,
  SHAPE: 4,
  QUESTION: 8,
  SIZE: 12,
  STORED: 16,
  EXPIRES: 20,
  FLAGS: 24,
  BODY: 28,
  FRESH_UNTIL: 32,
  NAME: 36,
} as const;
export const CACHED_FLAG = { DNSSEC_OK: 1, CHECKING_DISABLED: 2, RECURSION_AVAILABLE: 4 } as const;
export const BODY = { RCODE: 0, ANSWERS: 4, ADDITIONALS: 8, ROTATION: 12, LENGTH: 16, RECORDS: 20 } as const;
export const BODY_AUTHORITATIVE = 16;
export const TERMS = { FLAGS: 0, LENGTHS: 4, RECORD: 8, SIZE: 12, POINTERS: 16 } as const;
export const TERMS_FLAG = {
  KNOWN: 1,
  AUTHORITATIVE_NXDOMAIN: 2,
  RECURSION_AVAILABLE: 4,
  ASK_WILDCARDS: 8,
  CACHES_OPEN_TYPES: 16,
} as const;

/** Rounds up to whole words. */
export const padded = (octets: number): number => (octets + 3) & ~3;
