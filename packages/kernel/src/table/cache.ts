/**
 * Stores, finds, moves and evicts cached answers. They lie in a log (see cache-log.ts).
 *
 * A new answer is written at the head. When more than half of the log is dead, entries at the tail go: a dead one at once, any other one
 * moves to the head. When space runs out, one that a reader used since the last pass moves to the head (its mark cleared), and any other
 * one is evicted. So the bound always holds, memory does not fragment, and recency costs a reader one octet.
 *
 * Derived answers lie in the same log, but belong to the chain that made them. The cache never returns
 * them to the resolver, which could not refetch them, serve them stale or copy them without their sources.
 */
import { BlockBuffer, cachedFlags, encodeCached } from './block.ts';
import { CacheLog } from './cache-log.ts';
import { decodeCached } from './cached-entry.ts';
import { finishQuestion, hashName } from './hash.ts';
import { BODY_RCODE, CACHED, CACHED_FLAG, encodeShape, KIND, padded } from './layout.ts';
import type { TableViews, WriterMemory } from './memory.ts';
import { CACHED_KEY_FLAGS } from './question.ts';
import type { Slots } from './slots.ts';
import type { CachedAnswer, CachedEntry, CachedQuestion, ViewId } from './types.ts';
import type { ViewRecords } from './view-records.ts';

export interface CacheRegionLimits {
  readonly octets: number;
  readonly entries: number;
}

export interface CacheStatistics {
  readonly cached: number;
  readonly cachedOctets: number;
  readonly insertions: number;
  readonly evictions: number;
  readonly refusals: number;
}

/**
 * Learns what becomes of the answers of a view's cache, but for those that handlers before the cache have made. Places and hashes are for
 * `dropAt`.
 */
export interface CachedWatcher {
  /** An answer is there now. */
  added(outcome: number, place: number, hash: number): void;
  /** An answer is no longer there: replaced, dropped or evicted. */
  gone(outcome: number): void;
  /** An answer is elsewhere now. */
  moved(outcome: number, place: number, hash: number): void;
}

/** Sees the name of each stored answer, in wire format and lower case. The octets are only valid during the call. */
export type ObserveCached = (octets: Uint8Array, start: number, length: number, rcode: number) => void;

/** The flags of answers that handlers before the cache have made, of cached ones or of others. */
const MADE_BEFORE = CACHED_FLAG.HAS_SOURCES | CACHED_FLAG.BEFORE_CACHE;
/** How many entries one new answer may move or evict. This bounds its cost. */
const MAX_EVICTIONS = 64;
/** How many of them may move while answers are evicted. */
const MAX_MOVES = MAX_EVICTIONS / 2;
/** How many entries one new answer may move while there is room. */
const MAX_CLEANED = 8;
/** Below this part of the limit, no answer is evicted: entries that are gone make room. */
const FULL = 3 / 4;

/** The parts that the cache is built from. */
export interface CacheParts {
  readonly memory: WriterMemory;
  readonly slots: Slots;
  readonly views: Pick<ViewRecords, 'getCache' | 'withCache'>;
  /** The keys of the hash. */
  readonly keys: Int32Array;
}

/** The key that the answer to a question is looked up by. */
interface CacheKey {
  readonly hash: number;
  readonly shape: number;
  readonly flags: number;
  /** The number of the view's cache. */
  readonly cache: number;
}

export class AnswerCache {
  readonly #views: TableViews;
  readonly #parts: CacheParts;
  readonly #slots: Slots;
  readonly #maxEntries: number;
  readonly #buffer = new BlockBuffer();
  readonly #log: CacheLog;
  #cached = 0;
  #cachedOctets = 0;
  #insertions = 0;
  #evictions = 0;
  #refusals = 0;
  #observe: ObserveCached | undefined;
  /** By the number of the cache. */
  readonly #watchers = new Map<number, CachedWatcher>();

  constructor(parts: CacheParts, limits: CacheRegionLimits) {
    this.#views = parts.memory.views;
    this.#parts = parts;
    this.#slots = parts.slots;
    this.#maxEntries = limits.entries;
    this.#log = new CacheLog(parts.memory, this.#boundOctets(limits.octets));
  }

  /** Changes the limit. Answers beyond a lower one are evicted as new ones come. */
  resize(octets: number): void {
    this.#log.resize(this.#boundOctets(octets));
  }

  /** Half of a small table is left to others. */
  #boundOctets(octets: number): number {
    return this.#maxEntries === 0 ? 0 : Math.min(octets, this.#views.octets.length / 2);
  }

  /** Reports what becomes of the answers of a view's cache, which has one watcher. @returns a function that ends it */
  watch(view: ViewId, watcher: CachedWatcher): () => void {
    const { number } = this.#parts.views.getCache(view);
    this.#watchers.set(number, watcher);
    return () => {
      this.#watchers.delete(number);
    };
  }

  /** There is one observer. */
  observe(observe: ObserveCached): void {
    this.#observe = observe;
  }

  statistics(): CacheStatistics {
    return {
      cached: this.#cached,
      cachedOctets: this.#cachedOctets,
      insertions: this.#insertions,
      evictions: this.#evictions,
      refusals: this.#refusals,
    };
  }

  /** @param now milliseconds of the monotonic clock that all threads share */
  put(answer: CachedAnswer, now: number, view: ViewId): boolean {
    const key = this.#computeKey(answer, view);
    encodeCached(this.#buffer, answer, { hash: key.hash, cache: key.cache, now });
    return this.#store();
  }

  /**
   * Stores an entry made by an `EntryEncoder`, unless the view's cache has been replaced since.
   *
   * @param until seconds: an entry with another outcome stays if it expires later
   * @returns whether it was stored
   */
  putEncoded(memory: Uint32Array, start: number, length: number, view: ViewId, until: number): boolean {
    this.#buffer.begin(length);
    const { words } = this.#buffer;
    for (let word = 0; word < length >> 2; word++) words[word] = memory[start + word] ?? 0;
    const { number } = this.#parts.views.getCache(view);
    return (words[CACHED.SHAPE >> 2] ?? 0) >>> 16 === number && this.#store(until);
  }

  dropWithin(name: Uint8Array): number {
    let dropped = 0;
    for (const block of [...this.#slots.blocks()]) {
      if (this.#isCached(block) && this.#isWithin(block, name)) {
        this.#remove(block);
        dropped++;
      }
    }
    return dropped;
  }

  /** The entry for a question, expired or not; undefined for a derived answer. */
  read(question: CachedQuestion, view: ViewId): CachedEntry | undefined {
    const slot = this.#findSlot(question, this.#computeKey(question, view));
    return slot < 0 ? undefined : this.#decode(this.#slots.blockAt(slot), this.#slots.hasRecency(slot));
  }

  drop(question: CachedQuestion, view: ViewId): boolean {
    const slot = this.#findSlot(question, this.#computeKey(question, view));
    if (slot >= 0) this.#remove(this.#slots.blockAt(slot));
    return slot >= 0;
  }

  /** The same for an entry that still is where it was stored. */
  dropAt(place: number, hash: number, view: ViewId): boolean {
    const isThere = this.hasAt(place, hash, view);
    if (isThere) this.#remove(place);
    return isThere;
  }

  /** Whether an entry still is where it was stored. */
  hasAt(place: number, hash: number, view: ViewId): boolean {
    const slot = this.#slots.find(hash, (candidate) => candidate === place);
    return slot >= 0 && this.#readCacheNumber(place) === this.#parts.views.getCache(view).number;
  }

  #computeKey({ name, type, class: dnsClass, ...question }: CachedQuestion, view: ViewId): CacheKey {
    const { salt, number: cache } = this.#parts.views.getCache(view);
    const flags = cachedFlags(question);
    const { keys } = this.#parts;
    const hash = finishQuestion(hashName(name, keys) ^ salt, keys, type, dnsClass, flags);
    return { hash, shape: encodeShape(name.length, KIND.CACHED, cache), flags, cache };
  }

  /** @returns undefined for entries of the chain, and for answers of a view that is removed or has a new cache */
  #decode(block: number, used: boolean): CachedEntry | undefined {
    if (((this.#views.words[(block + CACHED.FLAGS) >> 2] ?? 0) & CACHED_FLAG.HAS_SOURCES) !== 0)
      return undefined;
    const view = this.#parts.views.withCache(this.#readCacheNumber(block));
    return view === undefined ? undefined : decodeCached(this.#views, block, view, used);
  }

  /** @param from where the last call ended, or 0 */
  scan(
    from: number,
    max: number,
    isDue: (stored: number, expires: number) => boolean,
    view: ViewId,
    isUsed: boolean,
  ): { found: CachedEntry[]; next: number } {
    const { words } = this.#views;
    const { number } = this.#parts.views.getCache(view);
    const found: CachedEntry[] = [];
    const next = this.#log.visit(from, max, (block) => {
      if (this.#readCacheNumber(block) !== number) return;
      if (!isDue(words[(block + CACHED.STORED) >> 2] ?? 0, words[(block + CACHED.EXPIRES) >> 2] ?? 0)) return;
      const slot = this.#findBlockSlot(block);
      const entry =
        slot >= 0 && this.#slots.hasRecency(slot) === isUsed ? this.#decode(block, isUsed) : undefined;
      if (entry !== undefined) found.push(entry);
    });
    return { found, next };
  }

  /** All entries, each with whether a reader used it since eviction last passed it. */
  *entries(): Generator<CachedEntry> {
    for (const block of this.#slots.blocks()) {
      if (!this.#isCached(block)) continue;
      const slot = this.#findBlockSlot(block);
      const entry = slot < 0 ? undefined : this.#decode(block, this.#slots.hasRecency(slot));
      if (entry !== undefined) yield entry;
    }
  }

  #findSlot(question: CachedQuestion, { hash, shape, flags }: CacheKey): number {
    const { atoms } = this.#views;
    const asked = question.type | (question.class << 16);
    return this.#slots.find(
      hash,
      (candidate) =>
        atoms[(candidate + CACHED.SHAPE) >> 2] === shape &&
        atoms[(candidate + CACHED.QUESTION) >> 2] === asked &&
        ((atoms[(candidate + CACHED.FLAGS) >> 2] ?? 0) & CACHED_KEY_FLAGS) === flags &&
        this.#endsWith(candidate, question.name, 0),
    );
  }

  /** The slot of the entry for the same question as the entry in the buffer, or -1. */
  #findSame(hash: number): number {
    const { words } = this.#views;
    const wanted = this.#buffer.words;
    const nameEnd = (CACHED.NAME >> 2) + (padded((wanted[CACHED.SHAPE >> 2] ?? 0) & 0xff) >> 2);
    return this.#slots.find(hash, (candidate) => {
      const from = candidate >> 2;
      const same = (field: number): boolean => words[from + (field >> 2)] === wanted[field >> 2];
      if (!same(CACHED.SHAPE) || !same(CACHED.QUESTION)) return false;
      const flags = (words[from + (CACHED.FLAGS >> 2)] ?? 0) ^ (wanted[CACHED.FLAGS >> 2] ?? 0);
      if ((flags & CACHED_KEY_FLAGS) !== 0) return false;
      for (let word = CACHED.NAME >> 2; word < nameEnd; word++)
        if (words[from + word] !== wanted[word]) return false;
      return true;
    });
  }

  /** Whether an entry has another outcome than that in the buffer, and expires later than at a second. */
  #isOther(block: number, second: number): boolean {
    const { words } = this.#views;
    const isLater = (words[(block + CACHED.EXPIRES) >> 2] ?? 0) > second;
    return isLater && words[(block + CACHED.OUTCOME) >> 2] !== this.#buffer.words[CACHED.OUTCOME >> 2];
  }

  /** Stores the entry in the buffer. @param until see `putEncoded` */
  #store(until: number = Number.POSITIVE_INFINITY): boolean {
    const isStored = this.#publish(until);
    if (isStored) this.#insertions++;
    if (isStored && this.#observe !== undefined) this.#report(this.#observe);
    return isStored;
  }

  #report(observe: ObserveCached): void {
    const { octets, words } = this.#buffer;
    const rcode = (words[(words[CACHED.BODY >> 2] ?? 0) >> 2] ?? 0) & BODY_RCODE;
    observe(octets, CACHED.NAME, (words[CACHED.SHAPE >> 2] ?? 0) & 0xff, rcode);
  }

  #publish(until: number): boolean {
    const { length, words } = this.#buffer;
    const hash = (words[CACHED.HASH >> 2] ?? 0) | 0;
    this.#makeRoom(length);
    if (this.#cached >= this.#maxEntries && this.#findSame(hash) < 0) this.#evictOne();
    this.#log.release();
    const block = this.#log.append(this.#buffer.octets.subarray(0, length));
    if (block === 0) return this.#refuse();
    const slot = this.#findSame(hash);
    if (slot >= 0 && this.#isOther(this.#slots.blockAt(slot), until)) return false;
    if (slot >= 0) {
      const former = this.#slots.blockAt(slot);
      this.#cachedOctets -= this.#readSize(former);
      this.#slots.replace(slot, block);
      this.#reportGone(former);
      // The mark belongs to the old entry: the new one starts unused.
      this.#slots.takeRecency(slot);
    } else if (this.#slots.insert(hash, block)) this.#cached++;
    else return this.#refuse();
    this.#cachedOctets += length;
    this.#findWatcher(block)?.added(this.#readOutcome(block), block, hash);
    return true;
  }

  #refuse(): false {
    this.#refusals++;
    return false;
  }

  #makeRoom(length: number): void {
    for (let turn = 0; this.#log.isSparse(this.#cachedOctets) && turn < MAX_CLEANED; turn++)
      this.#passOldest('all');
    for (let turn = 0; this.#log.isFullFor(length) && turn < MAX_EVICTIONS; turn++) {
      const hasRoom = this.#cachedOctets < this.#log.limit * FULL;
      this.#passOldest(turn >= MAX_MOVES ? 'none' : hasRoom ? 'all' : 'used');
    }
  }

  /** Removes the entry at the tail: drops it if dead, moves it to the head, or evicts it. @param kept which ones move */
  #passOldest(kept: 'all' | 'used' | 'none'): void {
    const block = this.#log.oldest();
    if (block === 0) return;
    const slot = this.#findBlockSlot(block);
    if (slot >= 0) {
      const isKept =
        kept === 'all' ? this.#isOfView(block) : this.#slots.takeRecency(slot) && kept === 'used';
      if (!(isKept && this.#moveToHead(slot, block))) this.#evict(slot, block);
    }
    this.#log.passOldest();
  }

  /** Whether its view is there, and has not got another cache. */
  #isOfView(block: number): boolean {
    return this.#parts.views.withCache(this.#readCacheNumber(block)) !== undefined;
  }

  #evictOne(): void {
    const before = this.#cached;
    for (let turn = 0; this.#cached === before && turn < MAX_EVICTIONS; turn++)
      this.#passOldest(turn < MAX_MOVES ? 'used' : 'none');
  }

  #evict(slot: number, block: number): void {
    this.#drop(slot, block);
    this.#evictions++;
  }

  #moveToHead(slot: number, block: number): boolean {
    const target = this.#log.append(this.#views.octets.subarray(block, block + this.#readSize(block)));
    if (target === 0) return false;
    this.#slots.replace(slot, target);
    const hash = this.#views.atoms[target >> 2] ?? 0;
    this.#findWatcher(target)?.moved(this.#readOutcome(target), target, hash);
    return true;
  }

  #remove(block: number): void {
    const slot = this.#findBlockSlot(block);
    if (slot >= 0) this.#drop(slot, block);
  }

  #drop(slot: number, block: number): void {
    this.#slots.remove(slot);
    this.#cached--;
    this.#cachedOctets -= this.#readSize(block);
    this.#reportGone(block);
  }

  #reportGone(block: number): void {
    this.#findWatcher(block)?.gone(this.#readOutcome(block));
  }

  #findWatcher(block: number): CachedWatcher | undefined {
    const isMade = ((this.#views.words[(block + CACHED.FLAGS) >> 2] ?? 0) & MADE_BEFORE) !== 0;
    return isMade ? undefined : this.#watchers.get(this.#readCacheNumber(block));
  }

  #readCacheNumber(block: number): number {
    return (this.#views.words[(block + CACHED.SHAPE) >> 2] ?? 0) >>> 16;
  }

  #readOutcome(block: number): number {
    return this.#views.words[(block + CACHED.OUTCOME) >> 2] ?? 0;
  }

  #readSize(block: number): number {
    return this.#views.words[(block + CACHED.SIZE) >> 2] ?? 0;
  }

  /** Evicts a cached answer from a slot where an entry of this hash could go. @returns whether one was found */
  evictNear(hash: number): boolean {
    const block = this.#slots.near(hash).find((each) => this.#isCached(each));
    if (block === undefined) return false;
    this.#remove(block);
    this.#evictions++;
    return true;
  }

  #findBlockSlot(block: number): number {
    return this.#slots.find(this.#views.atoms[block >> 2] ?? 0, (candidate) => candidate === block);
  }

  #isCached(block: number): boolean {
    return (((this.#views.words[(block + CACHED.SHAPE) >> 2] ?? 0) >> 8) & 0xff) === KIND.CACHED;
  }

  #nameLength(block: number): number {
    return (this.#views.words[(block + CACHED.SHAPE) >> 2] ?? 0) & 0xff;
  }

  #isWithin(block: number, name: Uint8Array): boolean {
    const length = this.#nameLength(block);
    const { octets } = this.#views;
    for (let at = 0; at + name.length <= length; at += (octets[block + CACHED.NAME + at] ?? 0) + 1) {
      if (at + name.length === length) return this.#endsWith(block, name, at);
    }
    return false;
  }

  #endsWith(block: number, name: Uint8Array, from: number): boolean {
    const start = block + CACHED.NAME + from;
    return name.every((octet, index) => this.#views.octets[start + index] === octet);
  }
}
