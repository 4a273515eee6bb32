/**
 * The layout of the table's memory. Writers and readers share only these offsets.
 *
 * The memory is one fixed reservation: a header, then blocks of 16-octet units handed out by the arena. A *place* is an
 * offset in such units, so that 31 bits reach 32 GiB. All numbers are in the byte order of the machine.
 *
 * Header, in 32-bit words:
 *
 *     0   the index: its place in pages of 4 KiB << 5 | log2 of its slots; replaced whole with one store
 *     3   the maximum TTL of cached answers in responses
 *     4   the place of the directory of views: per view the place of its record
 *     5   the place of the directory of zones: per zone the place of its settings
 *     6   the place of the directory of counters: per outcome the place of its counters, one page per reader
 *     7   the place of the directory of publications: per publication the place of its record
 *     8   one more than the highest outcome with counters
 *     9   the epoch of the plan
 *     10  the place of the root of the views; 0: all queries are those of the default view
 *     16  the keys of all hashes
 *     512 per reader, 16 words apart: its epoch, odd while it reads
 *
 * A directory is an array of words by number, 0 where unused. One that grows is replaced whole with one store.
 *
 * The index is `slots` words (0 empty, -1 removed, else a place) and then as many octets of recency. A reader sets a
 * recency octet when it uses a cached answer; eviction clears it.
 *
 * A name node:                                      A cached answer:
 *
 *     0   hash                                          0   hash
 *     4   name length | kind << 8                       4   name length | kind << 8
 *         | publication << 16                               | number of the view's cache << 16
 *     8   below | other types << 8 | outcome << 16      8   type | class << 16
 *     12  octets of the whole block                     12  octets of the whole block
 *     16  zone | types << 16                            16  second of storing
 *     20  per type: type, octets from the block's       20  second of expiry
 *         start to its body                             24  flags | number of TTLs << 16
 *     ..  the name, padded with zeros to a word         28  the body's octets from the block's start
 *     ..  the bodies                                    32  second at which its TTL ended, or will
 *                                                       36  outcome
 *                                                       40  the name, padded; the TTLs' offsets (16 bits); the body
 *
 * The body of a derived answer follows its sources: the epoch of the plan, and twice a publication (-1: unused) with
 * its epoch.
 *
 * A body:
 *
 *     0   rcode | authoritative << 4 | authentic << 5 | octets of the records << 8
 *     4   answers | authorities << 16
 *     8   additionals | stride of the rotation << 16
 *     12  start of the rotation | its count << 16
 *     16  the records
 *
 * The settings of a zone:
 *
 *     0   flags
 *     4   apex length | length of the SOA record << 16
 *     8   octets from the block's start to the record | pointers to mend << 16
 *     12  octets of the whole block
 *     16  offsets (16 bits) inside the record of compression pointers to the apex; then the record
 *
 * A publication, whose record never moves:
 *
 *     0   the salt of its nodes
 *     4   its number
 *     8   nodes, and one for its records
 *     12  the maximum of labels of its nodes
 *     16  the place of its scope, which is replaced with one store
 *     20  its epoch
 *     24  the place of the block that says how names are composed from records; 0: none. Either the zone of a cluster
 *         (records/layout.ts) or a list of hosts files (records/hosts/layout.ts)
 *
 * The scope of a publication tells for which names a closest encloser is looked up:
 *
 *     0   flags | labels of the suffixes << 16
 *     4   seven words, a set of bits: suffixes of this many labels that zones have (see `scopeBit`)
 *
 * The record of a view:
 *
 *     0   the salt of its cached answers
 *     4   the number of its cache | flags << 16
 *     8   number of publications
 *     12  octets of the whole block
 *     16  octets from the block's start to its ask rules, 0 for none
 *     20  outcomes of refused questions: of class CHAOS | of all others << 16
 *     24  the first outcome of its nodes, 0: nodes and cached answers carry theirs
 *     28  the maximum UDP size that it takes from clients, 0: any
 *     32  where readers forward what it leaves open, 0: nowhere
 *     36  the first outcome of its cached answers, where that of its nodes is not 0
 *     40  the place of the publication with the search lists of its clients, 0: none (see search-lists.ts)
 *     44  the first outcome of answers that were searched for
 *     48  the places of its publications, in the order of look-up; then the ask rules
 *
 * A table of names (offsets are octets from its start):
 *
 *     0   log2 of the slots | minimum of labels << 8 | maximum of labels << 16
 *     4   per slot: the hash of a name, the offset of its entry (0: empty)
 *     ..  entries: name length | tag << 8; the name, padded; the content
 *
 * Ask rules are a table of names. The tag is the number of rules; per rule: flags | types << 8 | EDNS options << 20, then
 * types and options (16 bits each), padded.
 *
 * The root of the views (offsets are octets from its start):
 *
 *     0   octets of the whole block
 *     4   number of listener groups
 *     8   per listener group: the offset of its clients
 *
 *     clients: number of intervals of IPv4 addresses, of IPv6 addresses; the first address of each interval, as one word or
 *     four, those of IPv4 first; then per interval the offset of its class, likewise
 *
 *     a class: the action for its queries | one more than the view of the root zone << 16; the offset of its other zones,
 *     which are a table of names (0: none); the tag is the view
 */
export const HEADER = {
  INDEX: 0,
  MAX_TTL: 3,
  VIEWS: 4,
  ZONES: 5,
  COUNTERS: 6,
  PUBLICATIONS: 7,
  OUTCOMES: 8,
  PLAN_EPOCH: 9,
  VIEW_ROOT: 10,
  KEYS: 16,
  EPOCHS: 512,
} as const;

export const MAX_READERS = 32;
/** Words from one reader's epoch to the next: a cache line, so that readers do not slow each other down. */
export const EPOCH_STRIDE = 16;

/** Types that are counted by themselves; the last bucket is every other type. */
export const TYPE_BUCKETS = 16;
export const RCODE_BUCKETS = 16;
/** Outcomes that always exist, named ones included: see `outcomes.ts`. */
export const FIRST_OUTCOMES = 16;
/**
 * The counters of one outcome and reader, in words. Questions for PTR are counted apart from all others, in the upper
 * half of each part but the answers:
 *
 *     durations     bucket (16)
 *     sizes         bucket (32)
 *     answers       whether truncated, type, rcode
 *     octets        64 bits, a floating point number
 *     milliseconds  likewise
 *
 * Queries are counted together, whatever their type:
 *
 *     queries       bucket of sizes (15), then the queries with DO
 *     query octets  64 bits, a floating point number
 */
export const COUNTERS = {
  DURATIONS: 0,
  SIZES: 32,
  ANSWERS: 96,
  QUERIES: 608,
  DNSSEC_OK: 623,
  OCTETS: 624,
  MILLISECONDS: 628,
  QUERY_OCTETS: 632,
  WORDS: 640,
} as const;

export const ARENA_START = 4096;

/** The word of a reader's epoch. */
export const locateEpoch = (reader: number): number => HEADER.EPOCHS + reader * EPOCH_STRIDE;

/** The maximum TTL (RFC 2181 section 8), used for "unbounded". */
export const MAX_TTL = 2 ** 31 - 1;

export const UNIT = 16;
export const UNIT_SHIFT = 4;
export const PAGE = 4096;
export const PAGE_SHIFT = 12;

export const EMPTY = 0;
export const REMOVED = -1;
/** How far from its hash an entry may lie. An entry that does not fit makes the index grow, or is not cached. */
export const PROBES = 64;

/** Kinds from 3 on are those of records, see `RECORD_KIND`. */
export const KIND = { NODE: 1, CACHED: 2, SEARCH_LIST: 32 } as const;
export const BELOW_COMPLETE = 0;
export const BELOW_ASK_ANY = 255;
export const OTHER_TYPES = { NODATA: 0, ASK: 1, NEXT: 2 } as const;

/** The second word of an entry, unique per owner of a name: a publication, or the cache of a view. */
export const encodeShape = (nameLength: number, kind: number, owner: number): number =>
  nameLength | (kind << 8) | (owner << 16);

export const NODE = { HASH: 0, SHAPE: 4, MEANING: 8, SIZE: 12, ZONE: 16, TYPES: 20 } as const;
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
  OUTCOME: 36,
  NAME: 40,
} as const;
export const CACHED_FLAG = {
  DNSSEC_OK: 1,
  CHECKING_DISABLED: 2,
  RECURSION_AVAILABLE: 4,
  HAS_SOURCES: 8,
  BEFORE_CACHE: 32,
  HELD_ONCE_STALE: 64,
  /** Behind the body: the octets of the extended errors that are passed on, then these. */
  PASSED_ERRORS: 128,
  OVER_IPV6: 256,
} as const;
/** Seven bits of the flags of a cached answer: the part of a second behind `STORED`. */
export const STORED_PART = { SHIFT: 9, MASK: 127, PARTS: 128 } as const;
/** Offsets of the sources, counted back from the body of a cached answer. */
export const SOURCES = {
  PLAN: 0,
  FIRST: 4,
  FIRST_EPOCH: 8,
  SECOND: 12,
  SECOND_EPOCH: 16,
  OCTETS: 20,
} as const;
/** Instead of a publication number: the source is unused. */
export const NO_PUBLICATION = -1;
export const BODY = { FLAGS: 0, ANSWERS: 4, ADDITIONALS: 8, ROTATION: 12, RECORDS: 16 } as const;
/** The first word of a body holds the octets of its records above the flags. */
export const BODY_LENGTH_SHIFT = 8;
export const BODY_RCODE = 15;
export const BODY_AUTHORITATIVE = 16;
export const BODY_AUTHENTIC = 32;
export const BODY_STALE = 64;
export const ZONE = { FLAGS: 0, LENGTHS: 4, RECORD: 8, SIZE: 12, POINTERS: 16 } as const;
export const ZONE_FLAG = {
  KNOWN: 1,
  AUTHORITATIVE_NXDOMAIN: 2,
  ASK_WILDCARDS: 8,
  CACHES_OPEN_TYPES: 16,
  MISSING_NEXT: 32,
  MISSING_ASK: 64,
  ANY_MINIMAL: 128,
  ANY_REFUSED: 256,
} as const;

export const PUBLICATION = {
  SALT: 0,
  ID: 4,
  NODES: 8,
  MAX_LABELS: 12,
  SCOPE: 16,
  EPOCH: 20,
  RECORDS: 24,
  OCTETS: 32,
} as const;
export const SCOPE = { FLAGS: 0, BITS: 4, OCTETS: 32 } as const;
/**
 * DENIES: a missing name may be denied, so its closest encloser must be known. ASKS: it may be left to the chain, which
 * matters only if another publication follows.
 */
export const SCOPE_FLAG = { DENIES: 1, ASKS: 2 } as const;

/**
 * The bit of a scope for a suffix of names. It is cheap and can err in one direction only: a closest encloser may be
 * looked up in vain.
 *
 * @param word the first four octets of the suffix, in lower case
 * @param length its octets
 * @returns 0 to 223
 */
export function scopeBit(word: number, length: number): number {
  return ((Math.imul(word ^ length, 0x9e3779b1) >>> 16) * 224) >>> 16;
}

export const VIEW_ROOT = { SIZE: 0, GROUPS: 4, CLIENTS: 8 } as const;
export const CLIENTS = { IPV4: 0, IPV6: 4, STARTS: 8 } as const;
export const CLIENT_CLASS = { SHAPE: 0, ZONES: 4, OCTETS: 8 } as const;
/** Next to the action: packets that are not plain queries go to the handler chain. */
export const CLASS_ASKS_ODD = 0x80;
/** How queries of a class are answered: by a view, with REFUSED, not at all, or by the handler chain. */
export const CLASS_ACTION = { VIEW: 0, REFUSE: 1, DROP: 2, ASK: 3 } as const;

export const VIEW = {
  SALT: 0,
  CACHE: 4,
  COUNT: 8,
  SIZE: 12,
  RULES: 16,
  REFUSALS: 20,
  OUTCOMES: 24,
  UDP_SIZE: 28,
  ROUTE: 32,
  CACHED_OUTCOMES: 36,
  SEARCH_LISTS: 40,
  SEARCH_OUTCOMES: 44,
  PUBLICATIONS: 48,
} as const;
export const VIEW_FLAG = {
  RECURSION_AVAILABLE: 1 << 16,
  ROTATES: 2 << 16,
  REFUSES_OTHERS: 4 << 16,
  ASKS_CHAOS: 8 << 16,
  REPEATS_OPT: 16 << 16,
  GIVES_OFFERED_SIZE: 32 << 16,
  EXTENDED_ERRORS: 64 << 16,
  ASKS_WITH_OPTIONS: 128 << 16,
} as const;
export const NAME_TABLE = { SHAPE: 0, SLOTS: 4 } as const;
export const RULE_FLAG = {
  ALWAYS: 1,
  SUFFIX: 2,
  ALL_TYPES: 4,
  WITH_OPTIONS: 8,
  BEFORE_CACHE: 16,
  IF_MISSING: 32,
  BY_FAMILY: 64,
  DNSSEC_OK: 128,
} as const;

/** Rounds up to whole words. */
export const padded = (octets: number): number => (octets + 3) & ~3;

/** Where the octets behind a body begin, at a whole word. @param body its first octet */
export const endOfBody = (words: Uint32Array, body: number): number =>
  body + padded(BODY.RECORDS + ((words[(body + BODY.FLAGS) >> 2] ?? 0) >>> BODY_LENGTH_SHIFT));
