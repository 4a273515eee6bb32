/**
 * The one writer of the table. It runs on the main thread; every change becomes visible at once and whole.
 */
import type { WireName } from '@portolan/dns/types.ts';
import { Arena } from './arena.ts';
import { BlockBuffer } from './block.ts';
import { AnswerCache, type CachedWatcher, type CacheStatistics, type ObserveCached } from './cache.ts';
import { Directory } from './directory.ts';
import { HASH_KEYS, hashName } from './hash.ts';
import { COUNTERS, FIRST_OUTCOMES, HEADER, MAX_READERS, MAX_TTL } from './layout.ts';
import { reserveTable, type TableViews, viewTable, WriterMemory } from './memory.ts';
import { NameNodes, type NodeRef } from './name-nodes.ts';
import { Publications } from './publications.ts';
import { Reclaimer } from './reclaim.ts';
import { RecordSpace } from './record-space.ts';
import { createSequence, drawRandom } from './salts.ts';
import { Slots } from './slots.ts';
import {
  type AnswerSources,
  type CachedAnswer,
  type CachedEntry,
  type CachedQuestion,
  DEFAULT_PUBLICATION,
  DEFAULT_VIEW,
  DEFAULT_VIEW_SETTINGS,
  type ListenerGroupViews,
  type NameNode,
  type PublicationId,
  type ViewId,
  type ViewSettings,
  type ZoneId,
  type ZoneSettings,
} from './types.ts';
import { ViewRecords } from './view-records.ts';
import { ViewRoot } from './view-root.ts';

export type { NodeRef };
export { MAX_READERS };

export interface TableOptions {
  /**
   * Octets of address space, at most 2 GiB. Untouched pages cost nothing, but a process whose adjacent reservations exceed the
   * memory of the machine can start no other process.
   */
  readonly reservation: number;
  /** Octets for cached answers, at most half of the reservation. Only what answers need is touched. Default: 16 MiB. */
  readonly cacheOctets?: number;
  /** The maximum of cached answers; 0 disables the cache. Default: limited by the octets only. */
  readonly cacheEntries?: number;
  /** The maximum TTL of cached answers in responses, in seconds; they may be kept for longer. Default: unbounded. */
  readonly maxTtl?: number | undefined;
  /** The number of reader threads, 0 to 32. */
  readonly readers: number;
  /** The seed of the hash keys and salts. Default: random. Tests set it for repeatable runs. */
  readonly seed?: number;
}

export interface TableStatistics extends CacheStatistics {
  readonly nodes: number;
  readonly nodeOctets: number;
  /** Entries that are composed into answers, and the octets of all records. */
  readonly records: number;
  readonly recordOctets: number;
  readonly indexSlots: number;
  /** Octets of memory ever touched, headers and index included. */
  readonly touchedOctets: number;
  readonly awaitingReaders: number;
}

const DEFAULT_CACHE_OCTETS = 16 * 2 ** 20;

/** Slots of a growing index to move in one step: takes a fraction of a millisecond. */
const STRETCH = 4096;

export class TableWriter {
  readonly memory: SharedArrayBuffer;
  readonly #views: TableViews;
  readonly #memory: WriterMemory;
  readonly #slots: Slots;
  readonly #publications: Publications;
  readonly #viewRecords: ViewRecords;
  readonly #root: ViewRoot;
  readonly #counters: CounterPages;
  readonly #cache: AnswerCache;
  readonly #nodes: NameNodes;
  readonly #records = new Map<PublicationId, RecordSpace>();
  readonly #buffer = new BlockBuffer();
  /** The keys of the hash. */
  readonly #keys: Int32Array;

  /** A table with one publication and one view that shows it: `DEFAULT_PUBLICATION`, `DEFAULT_VIEW`. */
  constructor(options: TableOptions) {
    if (options.readers > MAX_READERS)
      throw new RangeError(`too many readers: ${options.readers}; at most ${MAX_READERS}`);
    this.memory = reserveTable(options.reservation);
    this.#views = viewTable(this.memory);
    const arena = new Arena(this.memory.byteLength);
    this.#memory = new WriterMemory(this.#views, arena, new Reclaimer(this.#views.atoms, options.readers));
    this.#slots = new Slots(this.#memory);
    const drawSalt = options.seed === undefined ? drawRandom : createSequence(options.seed);
    this.#keys = Int32Array.from({ length: HASH_KEYS }, drawSalt);
    this.#views.atoms.set(this.#keys, HEADER.KEYS);
    Atomics.store(this.#views.words, HEADER.MAX_TTL, options.maxTtl ?? MAX_TTL);
    const hashWireName = (name: Uint8Array): number => hashName(name, this.#keys);
    this.#counters = new CounterPages(this.#memory, options.readers);
    this.#publications = new Publications(this.#memory, drawSalt);
    this.#viewRecords = new ViewRecords(this.#memory, drawSalt, hashWireName, (id) =>
      this.#publications.getRecordOffset(id),
    );
    this.#root = new ViewRoot(this.#memory, hashWireName);
    const parts = { memory: this.#memory, slots: this.#slots, views: this.#viewRecords, keys: this.#keys };
    this.#cache = new AnswerCache(parts, {
      octets: options.cacheOctets ?? DEFAULT_CACHE_OCTETS,
      entries: options.cacheEntries ?? Number.POSITIVE_INFINITY,
    });
    const publications = this.#publications;
    const { keys } = parts;
    this.#nodes = new NameNodes({
      memory: this.#memory,
      slots: this.#slots,
      publications,
      cache: this.#cache,
      keys,
    });
    this.definePublication();
    this.defineView(DEFAULT_VIEW_SETTINGS);
  }

  /**
   * Adds a publication: names of one source, which other publications may have too. A view must show it.
   *
   * @throws RangeError when there are 65,536
   */
  definePublication(): PublicationId {
    return this.#publications.define();
  }

  /**
   * Removes a publication with its zones and all its nodes. Readers skip it from the first step on; it is gone after
   * the last. Each step takes a fraction of a millisecond.
   *
   * @throws RangeError while a view shows it
   */
  *dropPublication(id: PublicationId): Generator<void, void> {
    const view = this.#viewRecords.withPublication(id);
    if (view !== undefined) throw new RangeError(`publication ${id} is still shown by view ${view}`);
    this.#publications.hide(id);
    for (const _ of this.#nodes.removeAll(id)) {
      this.collect();
      yield;
    }
    this.#publications.drop(id);
    this.#records.delete(id);
  }

  /** The entries of a publication that are composed into answers, in place of nodes. */
  openRecordSpace(publication: PublicationId): RecordSpace {
    const known = this.#records.get(publication);
    if (known !== undefined) return known;
    const space = new RecordSpace({
      memory: this.#memory,
      slots: this.#slots,
      evictNear: (hash) => this.#cache.evictNear(hash),
      keys: this.#keys,
      publication,
      salt: this.#publications.getSalt(publication),
      show: (place) => this.#publications.showRecords(publication, place),
    });
    this.#records.set(publication, space);
    return space;
  }

  /** Adds a zone to a publication. Put its apex node like any other. @throws RangeError when there are 65,535 zones */
  defineZone(settings: ZoneSettings, publication: PublicationId = DEFAULT_PUBLICATION): ZoneId {
    return this.#publications.defineZone(this.#buffer, settings, publication);
  }

  /** Replaces a zone's settings (a new SOA, or `known` now true), visible to the next look-up. */
  changeZone(id: ZoneId, settings: ZoneSettings): void {
    this.#publications.changeZone(this.#buffer, id, settings);
  }

  /**
   * Adds a view.
   *
   * @param sharing a view whose cached answers are also right for this one: both share one cache
   * @throws RangeError when there are 65,536, or for an unknown publication
   */
  defineView(settings: ViewSettings, sharing?: ViewId): ViewId {
    return this.#viewRecords.define(settings, sharing);
  }

  /**
   * Sets which view answers a query, by its listener group, its client and its name, with one store.
   *
   * @param groups by the number of a listener group; undefined: all queries are for `DEFAULT_VIEW` (the initial state)
   * @throws TableFullError and leaves the table as it was
   */
  showViews(groups: readonly ListenerGroupViews[] | undefined): void {
    this.#root.replace(groups);
  }

  /**
   * Replaces the settings of a view, with one store.
   *
   * @param keepsCache whether the view's cached answers are still right
   * @throws TableFullError or RangeError and leaves the view as it was
   */
  changeView(id: ViewId, settings: ViewSettings, keepsCache = true): void {
    this.#viewRecords.change(id, settings, keepsCache);
  }

  /** Removes a view that is no longer shown. Its cached answers are evicted when space is needed. */
  removeView(id: ViewId): void {
    this.#viewRecords.remove(id);
  }

  viewSettings(id: ViewId): ViewSettings {
    return this.#viewRecords.getSettings(id);
  }

  /**
   * Publishes a node. It replaces the node of the same name in its publication; an equal node stays as it is.
   *
   * @throws TableFullError and leaves the table as it was
   */
  put(node: NameNode): NodeRef {
    this.#counters.claim(node.outcome);
    return this.#nodes.put(node);
  }

  /** Removes the node of this name in the publication of a zone. @returns whether it existed */
  remove(name: WireName, zone?: ZoneId): boolean {
    return this.#nodes.remove(name, zone);
  }

  /** The reference of the node of this name in the publication of a zone. */
  find(name: WireName, zone?: ZoneId): NodeRef | undefined {
    return this.#nodes.find(name, zone);
  }

  /** The lower-case name of a published node. */
  readNodeName(ref: NodeRef): WireName {
    return this.#nodes.readNodeName(ref);
  }

  /**
   * Caches an answer that expires; it replaces an older one for the same question and view.
   *
   * @param now milliseconds of the monotonic clock that all threads share
   * @returns false if it was not cached: caching is off, or readers have not left enough space yet
   */
  cache(answer: CachedAnswer, now: number, view: ViewId = DEFAULT_VIEW): boolean {
    this.#counters.claim(answer.outcome);
    return this.#cache.put(answer, now, view);
  }

  /** Changes the octets for cached answers. Answers beyond a lower limit are evicted as new ones come. */
  resizeCache(octets: number): void {
    this.#cache.resize(octets);
  }

  /**
   * Reports what becomes of the answers of a view's cache. A cache has one watcher.
   *
   * @returns a function that ends it; call it before the view is removed
   */
  watchCached(view: ViewId, watcher: CachedWatcher): () => void {
    return this.#cache.watch(view, watcher);
  }

  /** Reports each stored answer from now on, those of readers included. */
  observeCached(observe: ObserveCached): void {
    this.#cache.observe(observe);
  }

  /**
   * Caches an entry that a reader made, see `EntryEncoder`; it replaces an older one for the same question.
   *
   * @param memory that holds the entry, from word `start` on
   * @param length octets of the entry
   * @param until seconds: an answer with another outcome is not replaced if it expires later. Default: any is replaced
   * @returns false if it was not cached: as for `cache`, or the view's cache has been replaced since
   */
  cacheEncoded(
    memory: Uint32Array,
    start: number,
    length: number,
    view: ViewId = DEFAULT_VIEW,
    until: number = Number.POSITIVE_INFINITY,
  ): boolean {
    return this.#cache.putEncoded(memory, start, length, view, until);
  }

  /** The cached answer to a question, expired or not, unless it is derived: for stale answers (RFC 8767). */
  readCached(question: CachedQuestion, view: ViewId = DEFAULT_VIEW): CachedEntry | undefined {
    return this.#cache.read(question, view);
  }

  /** All cached answers but derived ones, expired or not, in no order. Iterate without a pause: the table must not change meanwhile. */
  cachedEntries(): Iterable<CachedEntry> {
    return this.#cache.entries();
  }

  /**
   * Scans the cached answers of a view in the order in which they were stored, one part per call. Skips derived answers.
   *
   * @param from where the last call ended, 0 at first
   * @param max answers to look at
   * @param isDue selects answers by the seconds of storing and expiry
   * @param isUsed select answers that a reader used, or those that were not used
   * @returns the selected answers, and where to continue; 0 at the end
   */
  scanCached(
    from: number,
    max: number,
    isDue: (stored: number, expires: number) => boolean,
    view: ViewId = DEFAULT_VIEW,
    isUsed = true,
  ): { readonly found: readonly CachedEntry[]; readonly next: number } {
    return this.#cache.scan(from, max, isDue, view, isUsed);
  }

  /** Drops the cached answer to a question. @returns whether it existed */
  dropCached(question: CachedQuestion, view: ViewId = DEFAULT_VIEW): boolean {
    return this.#cache.drop(question, view);
  }

  /**
   * Drops a cached answer that still is where it was stored: answers in use move.
   *
   * @param place and hash as a watcher learned them
   * @returns false: another answer may be there by now, or none
   */
  dropCachedAt(place: number, hash: number, view: ViewId = DEFAULT_VIEW): boolean {
    return this.#cache.dropAt(place, hash, view);
  }

  /** Whether a cached answer still is where it was stored. */
  hasCachedAt(place: number, hash: number, view: ViewId = DEFAULT_VIEW): boolean {
    return this.#cache.hasAt(place, hash, view);
  }

  /** Drops the cached answers of this name and all names below it, in all views. @returns how many */
  dropCachedWithin(name: WireName): number {
    return this.#cache.dropWithin(name);
  }

  /** The current epochs of the plan and of these publications (at most two): note them when a query comes to the chain. */
  readAnswerSources(publications: readonly PublicationId[]): AnswerSources {
    const epochs = publications.map((id) => ({ id, epoch: this.#publications.readEpoch(id) }));
    return { plan: Atomics.load(this.#views.words, HEADER.PLAN_EPOCH), publications: epochs };
  }

  /** Call it when a change of a publication is complete: answers derived from its former state are given no more. */
  publicationChanged(id: PublicationId): void {
    this.#publications.raiseEpoch(id);
  }

  /** Call it when another plan is in force: answers derived under the former one are given no more. */
  planChanged(): void {
    Atomics.add(this.#views.atoms, HEADER.PLAN_EPOCH, 1);
  }

  /** Makes counters for `count` outcomes where they are missing. Call it before views with these outcomes are shown. */
  claimOutcomes(first: number, count: number): void {
    for (let more = 0; more < count; more++) this.#counters.claim(first + more);
  }

  /** @returns a test whether readers have left all that they found before this call, such as a view that is replaced */
  watchReaders(): () => boolean {
    let haveLeft = false;
    this.#memory.reclaimer.retire(() => {
      haveLeft = true;
    });
    return () => {
      this.collect();
      return haveLeft;
    };
  }

  /** Frees all memory that readers have left. Call it after a group of changes. */
  collect(): void {
    this.#slots.step(STRETCH);
    this.#memory.reclaimer.collect();
  }

  /** Call it when a reader's thread has ended, before another takes its number. */
  readerDied(reader: number): void {
    this.#memory.reclaimer.readerDied(reader);
  }

  #countRecords(): Pick<TableStatistics, 'records' | 'recordOctets'> {
    let records = 0;
    let recordOctets = 0;
    for (const space of this.#records.values()) {
      records += space.entries;
      recordOctets += space.octets;
    }
    return { records, recordOctets };
  }

  statistics(): TableStatistics {
    return {
      nodes: this.#nodes.count,
      nodeOctets: this.#nodes.octets,
      ...this.#countRecords(),
      ...this.#cache.statistics(),
      indexSlots: this.#slots.capacity,
      touchedOctets: this.#memory.arena.touched,
      awaitingReaders: this.#memory.reclaimer.pending,
    };
  }
}

/**
 * Gives each outcome its own counters, one page per reader. Pages without counts are never touched.
 */
class CounterPages {
  readonly #memory: WriterMemory;
  readonly #directory: Directory;
  readonly #octets: number;

  /** @param readers that count, one page each */
  constructor(memory: WriterMemory, readers: number) {
    this.#memory = memory;
    this.#octets = Math.max(1, readers) * COUNTERS.WORDS * 4;
    this.#directory = new Directory(memory, HEADER.COUNTERS, 'outcomes', 0);
    for (let outcome = 0; outcome < FIRST_OUTCOMES; outcome++) this.claim(outcome);
  }

  /** Creates the counters of an outcome, unless they exist. */
  claim(outcome: number): void {
    if (this.#directory.get(outcome) !== 0) return;
    this.#directory.set(outcome, this.#memory.arena.takeFresh(this.#octets));
    const { atoms } = this.#memory.views;
    if (outcome >= Atomics.load(atoms, HEADER.OUTCOMES)) Atomics.store(atoms, HEADER.OUTCOMES, outcome + 1);
  }
}
