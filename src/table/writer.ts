/**
 * The one writer of the table. It lives on the main thread; everything it publishes is whole and visible at once.
 */

import type { Brand } from '../ground/brand.ts';
import type { WireName } from '../wire/types.ts';
import { Arena } from './arena.ts';
import { BlockBuffer, encodeNode, encodeTerms } from './block.ts';
import { AnswerCache } from './cache.ts';
import { countLabels, finishHash, hashName } from './hash.ts';
import { HiddenNodes } from './hidden-nodes.ts';
import { HEADER, KIND, LONGEST_TTL, MOST_READERS, MOST_ZONES, NODE, TERMS, UNIT_SHIFT } from './layout.ts';
import { reserveTable, type TableViews, viewTable } from './memory.ts';
import { Reclaimer } from './reclaim.ts';
import { Slots } from './slots.ts';
import type { CachedAnswer, CachedEntry, CachedQuestion, NameNode, ZoneId, ZoneTerms } from './types.ts';

export { MOST_READERS };

/** Names a published node: its place in memory. It stands until the node is replaced or removed. */
export type NodeRef = Brand<number, 'NodeRef'>;

export interface TableOptions {
  /** Octets of address space, at most 2 GiB. Default: 1 GiB. Untouched pages cost nothing. */
  readonly reservation?: number;
  /** Octets for cached answers. Default: 16 MiB. */
  readonly cacheOctets?: number;
  /** Cached answers at most; 0 caches nothing. Default: no limit but the octets. */
  readonly cacheEntries?: number;
  /** Seconds that clients are told at most of a cached answer; how long it is kept is another matter. Default: no bound. */
  readonly mostTtl?: number | undefined;
  /** Reader threads that will look things up, 0 to 32. */
  readonly readers: number;
  /** The seed of the hashes; drawn at random unless a test needs the same run twice. */
  readonly seed?: number;
}

export interface TableStatistics {
  readonly nodes: number;
  readonly nodeOctets: number;
  readonly cached: number;
  readonly cachedOctets: number;
  readonly indexSlots: number;
  /** Octets of memory ever touched, headers and index included. */
  readonly touchedOctets: number;
  readonly awaitingReaders: number;
  readonly insertions: number;
  readonly evictions: number;
  readonly refusals: number;
}

const DEFAULT_RESERVATION = 2 ** 30;
const DEFAULT_CACHE_OCTETS = 16 * 2 ** 20;

export class TableWriter {
  readonly memory: SharedArrayBuffer;
  readonly #views: TableViews;
  readonly #arena: Arena;
  readonly #reclaimer: Reclaimer;
  readonly #slots: Slots;
  readonly #cache: AnswerCache;
  readonly #buffer = new BlockBuffer();
  readonly #seed: number;
  readonly #hidden = new HiddenNodes();
  /** By zone. */
  readonly #precedence: number[] = [];
  #zones = 0;
  #nodes = 0;
  #nodeOctets = 0;

  constructor(options: TableOptions) {
    if (options.readers > MOST_READERS)
      throw new RangeError(`too many readers: ${options.readers}; at most ${MOST_READERS}`);
    this.memory = reserveTable(options.reservation ?? DEFAULT_RESERVATION);
    this.#views = viewTable(this.memory);
    this.#arena = new Arena(this.memory.byteLength);
    this.#reclaimer = new Reclaimer(this.#views.atoms, options.readers);
    this.#slots = new Slots(this.#views, this.#arena, this.#reclaimer);
    this.#seed = options.seed ?? crypto.getRandomValues(new Int32Array(1))[0] ?? 0;
    Atomics.store(this.#views.atoms, HEADER.SEED, this.#seed);
    Atomics.store(this.#views.words, HEADER.MOST_TTL, options.mostTtl ?? LONGEST_TTL);
    this.#cache = new AnswerCache(this.#views, this.#arena, this.#reclaimer, this.#slots, this.#seed, {
      octets: options.cacheOctets ?? DEFAULT_CACHE_OCTETS,
      entries: options.cacheEntries ?? Number.POSITIVE_INFINITY,
    });
  }

  /**
   * Adds a zone. Its apex node is put like any other.
   *
   * @param precedence of nodes of the same name, that of the zone with the highest is answered
   */
  defineZone(terms: ZoneTerms, precedence = 0): ZoneId {
    if (this.#zones + 1 >= MOST_ZONES) throw new RangeError(`too many zones: at most ${MOST_ZONES - 1}`);
    this.#zones += 1;
    // The only maker of zone ids.
    const id = this.#zones as ZoneId;
    this.#precedence[id] = precedence;
    this.changeZone(id, terms);
    return id;
  }

  /** Replaces a zone's terms (a new SOA, or known at last), visible to the next look-up. */
  changeZone(id: ZoneId, terms: ZoneTerms): void {
    encodeTerms(this.#buffer, terms);
    const old = Atomics.load(this.#views.atoms, HEADER.ZONES + id) << UNIT_SHIFT;
    const block = this.#copyBuffer();
    Atomics.store(this.#views.atoms, HEADER.ZONES + id, block >> UNIT_SHIFT);
    if (old !== 0) this.#retire(old, this.#views.words[(old + TERMS.SIZE) >> 2] ?? 0);
  }

  /**
   * Publishes a node, in place of the one of the same name if there is one. An equal node is left as it stands. A node that
   * another zone's stands before is kept, and answered as soon as the other is removed.
   *
   * @throws TableFullError and leaves the table as it was
   */
  put(node: NameNode): NodeRef {
    const hash = finishHash(hashName(node.name, this.#seed));
    encodeNode(this.#buffer, node, hash);
    const slot = this.#findNode(node.name, hash);
    const standing = slot < 0 ? 0 : this.#slots.blockAt(slot);
    if (slot >= 0 && this.#precedes(standing, node.zone)) return this.#hide(node.name);
    if (slot >= 0 && this.#equalsBuffer(standing)) return refOf(standing);
    const block = this.#copyBuffer();
    this.#nodeOctets += this.#buffer.length;
    if (slot < 0) this.#insertNode(block, hash, countLabels(node.name));
    else {
      this.#slots.replace(slot, block);
      if (this.#isBehind(standing, node.zone)) this.#hidden.add(node.name, this.#zoneOf(standing), standing);
      else this.#forget(standing);
    }
    return refOf(block);
  }

  /** Removes the node of this name and zone; without a zone, the one that is answered. @returns whether there was one */
  remove(name: WireName, zone?: ZoneId): boolean {
    const slot = this.#findNode(name, finishHash(hashName(name, this.#seed)));
    if (slot < 0) return false;
    const block = this.#slots.blockAt(slot);
    if (zone !== undefined && this.#zoneOf(block) !== zone) {
      const hidden = this.#hidden.take(name, zone);
      if (hidden !== undefined) this.#forget(hidden);
      return hidden !== undefined;
    }
    const next = this.#hidden.takeFirst(name, (other) => this.#precedenceOf(other));
    if (next !== undefined) this.#slots.replace(slot, next);
    else {
      this.#slots.remove(slot);
      this.#nodes--;
    }
    this.#forget(block);
    return true;
  }

  /** The reference of the node of this name and zone; without a zone, of the one that is answered. */
  find(name: WireName, zone?: ZoneId): NodeRef | undefined {
    const slot = this.#findNode(name, finishHash(hashName(name, this.#seed)));
    if (slot < 0) return undefined;
    const block = this.#slots.blockAt(slot);
    if (zone === undefined || this.#zoneOf(block) === zone) return refOf(block);
    const hidden = this.#hidden.get(name, zone);
    return hidden === undefined ? undefined : refOf(hidden);
  }

  /** The lower-case name of a node that stands. */
  nameOf(ref: NodeRef): WireName {
    const block = ref << UNIT_SHIFT;
    const start = block + this.#nameOffset(block);
    // A copy of what was a WireName when it was put.
    return this.#views.octets.slice(start, start + this.#nameLength(block)) as WireName;
  }

  /**
   * Caches an answer that expires, in place of an older one for the same question.
   *
   * @param now milliseconds since the epoch
   * @returns false when it was not cached: caching is off, or there is no room that readers have left yet
   */
  cache(answer: CachedAnswer, now: number): boolean {
    return this.#cache.put(answer, now);
  }

  /** The cached answer to a question, expired or not: for stale answers (RFC 8767). */
  readCached(question: CachedQuestion): CachedEntry | undefined {
    return this.#cache.read(question);
  }

  /** Whether there is a cached answer to a question, expired or not. */
  hasCached(question: CachedQuestion): boolean {
    return this.#cache.has(question);
  }

  /** All cached answers, expired or not, in no order. Take them without a pause: the table must not change meanwhile. */
  cachedEntries(): Iterable<CachedEntry> {
    return this.#cache.entries();
  }

  /**
   * Looks through cached answers in the order in which they were stored, a part at a time.
   *
   * @param from where the last call ended, 0 at first
   * @param most answers to look at
   * @param isDue says by the seconds of storing and expiry which ones are wanted
   * @returns those wanted that a reader used, and where to go on; 0 at the end
   */
  scanCached(
    from: number,
    most: number,
    isDue: (stored: number, expires: number) => boolean,
  ): { readonly found: readonly CachedEntry[]; readonly next: number } {
    return this.#cache.scan(from, most, isDue);
  }

  /** Drops the cached answer to a question. @returns whether there was one */
  dropCached(question: CachedQuestion): boolean {
    return this.#cache.drop(question);
  }

  /** Drops the cached answers of this name and all names below it. @returns how many */
  dropCachedWithin(name: WireName): number {
    return this.#cache.dropWithin(name);
  }

  /** Frees what no reader can see any more. Call it after a group of changes. */
  collect(): void {
    this.#reclaimer.collect();
  }

  /** To be called when a reader's thread has ended, before another takes its number. */
  readerDied(reader: number): void {
    this.#reclaimer.readerDied(reader);
  }

  statistics(): TableStatistics {
    return {
      nodes: this.#nodes,
      nodeOctets: this.#nodeOctets,
      ...this.#cache.statistics(),
      indexSlots: this.#slots.capacity,
      touchedOctets: this.#arena.touched,
      awaitingReaders: this.#reclaimer.pending,
    };
  }

  /** Keeps the node in the buffer behind the one of its name that is answered. */
  #hide(name: WireName): NodeRef {
    const zone = (this.#buffer.words[NODE.ZONE >> 2] ?? 0) & 0xff;
    const before = this.#hidden.get(name, zone);
    if (before !== undefined && this.#equalsBuffer(before)) return refOf(before);
    const block = this.#copyBuffer();
    this.#nodeOctets += this.#buffer.length;
    this.#hidden.add(name, zone, block);
    if (before !== undefined) this.#forget(before);
    return refOf(block);
  }

  #zoneOf(block: number): number {
    return (this.#views.words[(block + NODE.ZONE) >> 2] ?? 0) & 0xff;
  }

  #precedenceOf(zone: number): number {
    return this.#precedence[zone] ?? 0;
  }

  /** Whether a node that stands is to be answered before one of this zone. */
  #precedes(block: number, zone: ZoneId): boolean {
    return this.#precedenceOf(this.#zoneOf(block)) > this.#precedenceOf(zone);
  }

  #isBehind(block: number, zone: ZoneId): boolean {
    return this.#precedenceOf(this.#zoneOf(block)) < this.#precedenceOf(zone);
  }

  #insertNode(block: number, hash: number, labels: number): void {
    const { atoms } = this.#views;
    if (labels > Atomics.load(atoms, HEADER.MOST_LABELS)) Atomics.store(atoms, HEADER.MOST_LABELS, labels);
    try {
      this.#slots.insert(hash, block, true);
      this.#nodes++;
    } catch (error) {
      this.#forget(block);
      throw error;
    }
  }

  #findNode(name: WireName, hash: number): number {
    return this.#slots.find(hash, (block) => this.#isNode(block) && this.#hasName(block, name));
  }

  #isNode(block: number): boolean {
    return (((this.#views.words[(block + NODE.SHAPE) >> 2] ?? 0) >> 8) & 0xff) === KIND.NODE;
  }

  #nameLength(block: number): number {
    return (this.#views.words[(block + NODE.SHAPE) >> 2] ?? 0) & 0xff;
  }

  #nameOffset(block: number): number {
    return NODE.TYPES + ((this.#views.words[(block + NODE.ZONE) >> 2] ?? 0) >>> 16) * 8;
  }

  #hasName(block: number, name: Uint8Array): boolean {
    if (this.#nameLength(block) !== name.length) return false;
    const start = block + this.#nameOffset(block);
    const { octets } = this.#views;
    for (let at = 0; at < name.length; at++) if (octets[start + at] !== name[at]) return false;
    return true;
  }

  #equalsBuffer(block: number): boolean {
    const { words } = this.#views;
    const start = block >> 2;
    for (let word = 0, end = this.#buffer.length >> 2; word < end; word++) {
      if (words[start + word] !== this.#buffer.words[word]) return false;
    }
    return true;
  }

  #copyBuffer(): number {
    const block = this.#arena.take(this.#buffer.length);
    this.#views.octets.set(this.#buffer.octets.subarray(0, this.#buffer.length), block);
    return block;
  }

  #forget(block: number): void {
    const size = this.#views.words[(block + NODE.SIZE) >> 2] ?? 0;
    this.#nodeOctets -= size;
    this.#retire(block, size);
  }

  #retire(block: number, size: number): void {
    this.#reclaimer.retire(() => this.#arena.give(block, size));
  }
}

function refOf(block: number): NodeRef {
  // The only maker of references.
  return (block >> UNIT_SHIFT) as NodeRef;
}
