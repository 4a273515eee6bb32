/**
 * Cached answers: a log that runs in a circle through a fixed budget of memory, evicting at its tail.
 *
 * A new answer is written at the head. When there is no room, entries at the tail go: a dead one at once, one that a
 * reader used since the last time round is moved to the head (its mark cleared), any other is evicted. So the bound holds
 * by construction, nothing fragments, and recency costs a reader one octet.
 *
 * What the tail has left is written over only when all readers are past it; until then a new answer is not cached.
 */
import { type Arena, TableFullError } from './arena.ts';
import { BlockBuffer, cachedFlags, encodeCached } from './block.ts';
import { decodeCached } from './cached-entry.ts';
import { finishQuestion, hashName } from './hash.ts';
import { CACHED, CACHED_FLAG, KIND, UNIT } from './layout.ts';
import type { TableViews } from './memory.ts';
import type { Reclaimer } from './reclaim.ts';
import type { Slots } from './slots.ts';
import type { CachedAnswer, CachedEntry, CachedQuestion } from './types.ts';

export interface CacheLimits {
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

/** How many entries one new answer may move or evict: the bound on its cost. */
const MOST_EVICTIONS = 64;
const KEY_FLAGS = CACHED_FLAG.DNSSEC_OK | CACHED_FLAG.CHECKING_DISABLED;

export class AnswerCache {
  readonly #views: TableViews;
  readonly #reclaimer: Reclaimer;
  readonly #slots: Slots;
  readonly #seed: number;
  readonly #limits: CacheLimits;
  readonly #buffer = new BlockBuffer();
  /** The log: [start, end). Head, tail and limit count octets ever written and never wrap; `#at` maps them into it. */
  readonly #start: number;
  readonly #size: number;
  #head = 0;
  #tail = 0;
  /** How far readers are known to have left what the tail passed. */
  #left = 0;
  #cached = 0;
  #cachedOctets = 0;
  #insertions = 0;
  #evictions = 0;
  #refusals = 0;

  constructor(
    views: TableViews,
    arena: Arena,
    reclaimer: Reclaimer,
    slots: Slots,
    seed: number,
    limits: CacheLimits,
  ) {
    this.#views = views;
    this.#reclaimer = reclaimer;
    this.#slots = slots;
    this.#seed = seed;
    this.#limits = limits;
    this.#size = limits.entries === 0 ? 0 : limits.octets & ~(UNIT - 1);
    this.#start = this.#size === 0 ? 0 : arena.takePages(this.#size);
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

  /** @param now milliseconds since the epoch */
  put(answer: CachedAnswer, now: number): boolean {
    const flags = cachedFlags(answer.dnssecOk, answer.checkingDisabled);
    const hash = finishQuestion(hashName(answer.name, this.#seed), answer.type, answer.class, flags);
    encodeCached(this.#buffer, answer, hash, Math.floor(now / 1000));
    const stored = this.#makeRoom(this.#buffer.length) && this.#publish(answer, hash, flags);
    if (stored) this.#insertions++;
    else this.#refusals++;
    return stored;
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

  /** The entry of a question, expired or not. */
  read(question: CachedQuestion): CachedEntry | undefined {
    const slot = this.#slotOfQuestion(question);
    if (slot < 0) return undefined;
    return decodeCached(this.#views, this.#slots.blockAt(slot), this.#slots.hasRecency(slot));
  }

  has(question: CachedQuestion): boolean {
    return this.#slotOfQuestion(question) >= 0;
  }

  drop(question: CachedQuestion): boolean {
    const slot = this.#slotOfQuestion(question);
    if (slot >= 0) this.#remove(this.#slots.blockAt(slot));
    return slot >= 0;
  }

  #slotOfQuestion(question: CachedQuestion): number {
    const { name, type, class: dnsClass } = question;
    const flags = cachedFlags(question.dnssecOk, question.checkingDisabled);
    return this.#findSlot(question, finishQuestion(hashName(name, this.#seed), type, dnsClass, flags), flags);
  }

  /** @param from a position of the log, or 0 */
  scan(
    from: number,
    most: number,
    isDue: (stored: number, expires: number) => boolean,
  ): { found: CachedEntry[]; next: number } {
    const { words } = this.#views;
    const found: CachedEntry[] = [];
    let position = Math.max(from, this.#tail);
    for (let looked = 0; looked < most && position < this.#head; looked++) {
      const block = this.#at(position);
      const size = this.#sizeOf(block);
      position += size === 0 ? this.#size - (position % this.#size) : alignUnit(size);
      if (size === 0) continue;
      if (!isDue(words[(block + CACHED.STORED) >> 2] ?? 0, words[(block + CACHED.EXPIRES) >> 2] ?? 0))
        continue;
      const slot = this.#slotOf(block);
      if (slot >= 0 && this.#slots.hasRecency(slot)) found.push(decodeCached(this.#views, block, true));
    }
    return { found, next: position < this.#head ? position : 0 };
  }

  /** All entries, each with whether a reader used it since eviction last passed it. */
  *entries(): Generator<CachedEntry> {
    for (const block of this.#slots.blocks()) {
      if (!this.#isCached(block)) continue;
      const slot = this.#slotOf(block);
      if (slot >= 0) yield decodeCached(this.#views, block, this.#slots.hasRecency(slot));
    }
  }

  #findSlot(question: CachedQuestion, hash: number, flags: number): number {
    const { words } = this.#views;
    const asked = (question.type | (question.class << 16)) >>> 0;
    return this.#slots.find(
      hash,
      (candidate) =>
        this.#isCached(candidate) &&
        words[(candidate + CACHED.QUESTION) >> 2] === asked &&
        ((words[(candidate + CACHED.FLAGS) >> 2] ?? 0) & KEY_FLAGS) === flags &&
        this.#hasName(candidate, question.name),
    );
  }

  #publish(answer: CachedAnswer, hash: number, flags: number): boolean {
    const slot = this.#findSlot(answer, hash, flags);
    if (slot < 0 && this.#cached >= this.#limits.entries) this.#evictOne();
    const block = this.#append();
    if (slot >= 0) {
      this.#cachedOctets -= this.#sizeOf(this.#slots.blockAt(slot));
      this.#slots.replace(slot, block);
      // Whether the new one is used is another question.
      this.#slots.takeRecency(slot);
    } else if (this.#insert(hash, block)) this.#cached++;
    else return false;
    this.#cachedOctets += this.#buffer.length;
    return true;
  }

  /** A full table refuses to cache. */
  #insert(hash: number, block: number): boolean {
    try {
      return this.#slots.insert(hash, block, false);
    } catch (error) {
      if (error instanceof TableFullError) return false;
      throw error;
    }
  }

  /** Copies the buffer to the head, for which there must be room. */
  #append(): number {
    this.#skipEnd(this.#buffer.length);
    const block = this.#at(this.#head);
    this.#views.octets.set(this.#buffer.octets.subarray(0, this.#buffer.length), block);
    this.#head += alignUnit(this.#buffer.length);
    return block;
  }

  /** Evicts at the tail until `length` octets fit at the head and no reader looks at them. */
  #makeRoom(length: number): boolean {
    const wished = alignUnit(length);
    if (wished * 4 > this.#size) return false;
    // Some room is kept ready, so that readers have time to leave what was evicted.
    const ready = Math.max(2 * wished, this.#size >> 4);
    for (let turn = 0; this.#roomAfterTail() < ready && turn < MOST_EVICTIONS; turn++) this.#passTail(turn);
    this.#letReadersLeave();
    return this.#needed(wished) <= this.#size - (this.#head - this.#left);
  }

  #roomAfterTail(): number {
    return this.#size - (this.#head - this.#tail);
  }

  #needed(length: number): number {
    const rest = this.#size - (this.#head % this.#size);
    return rest < length ? rest + length : length;
  }

  #letReadersLeave(): void {
    const tail = this.#tail;
    if (tail > this.#left) {
      this.#reclaimer.retire(() => {
        this.#left = Math.max(this.#left, tail);
      });
    }
    this.#reclaimer.collect();
  }

  /** Moves the tail past one entry, which dies, moves to the head, or is dead already. */
  #passTail(turn: number): void {
    if (this.#tail >= this.#head) return;
    const block = this.#at(this.#tail);
    const size = this.#sizeOf(block);
    if (size === 0) {
      this.#tail += this.#size - (this.#tail % this.#size);
      return;
    }
    const slot = this.#slotOf(block);
    if (slot >= 0) {
      const fits = this.#needed(alignUnit(size)) <= this.#size - (this.#head - this.#left);
      if (this.#slots.takeRecency(slot) && turn < MOST_EVICTIONS / 2 && fits)
        this.#moveToHead(slot, block, size);
      else this.#evict(slot, size);
    }
    this.#tail += alignUnit(size);
  }

  #evictOne(): void {
    const before = this.#cached;
    for (let turn = 0; this.#cached === before && turn < MOST_EVICTIONS; turn++) this.#passTail(turn);
  }

  #evict(slot: number, size: number): void {
    this.#slots.remove(slot);
    this.#cached--;
    this.#cachedOctets -= size;
    this.#evictions++;
  }

  #moveToHead(slot: number, block: number, size: number): void {
    this.#skipEnd(size);
    const target = this.#at(this.#head);
    this.#views.octets.copyWithin(target, block, block + size);
    this.#head += alignUnit(size);
    this.#slots.replace(slot, target);
  }

  #remove(block: number): void {
    const slot = this.#slotOf(block);
    if (slot < 0) return;
    this.#slots.remove(slot);
    this.#cached--;
    this.#cachedOctets -= this.#sizeOf(block);
  }

  /** Leaves the rest of the log's end unused when an entry of this length does not fit there. */
  #skipEnd(length: number): void {
    const at = this.#head % this.#size;
    if (this.#size - at >= alignUnit(length)) return;
    this.#views.words[(this.#start + at + CACHED.SIZE) >> 2] = 0;
    this.#head += this.#size - at;
  }

  #at(position: number): number {
    return this.#start + (position % this.#size);
  }

  #sizeOf(block: number): number {
    return this.#views.words[(block + CACHED.SIZE) >> 2] ?? 0;
  }

  #slotOf(block: number): number {
    return this.#slots.find(this.#views.atoms[block >> 2] ?? 0, (candidate) => candidate === block);
  }

  #isCached(block: number): boolean {
    return (((this.#views.words[(block + CACHED.SHAPE) >> 2] ?? 0) >> 8) & 0xff) === KIND.CACHED;
  }

  #nameLength(block: number): number {
    return (this.#views.words[(block + CACHED.SHAPE) >> 2] ?? 0) & 0xff;
  }

  #hasName(block: number, name: Uint8Array): boolean {
    return this.#nameLength(block) === name.length && this.#endsWith(block, name, 0);
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

function alignUnit(octets: number): number {
  return (octets + UNIT - 1) & ~(UNIT - 1);
}
