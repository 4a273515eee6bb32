/**
 * The writer's side of views: their records, and the caches that belong to them.
 */
import { encodeAskRules } from './ask-rules.ts';
import { Directory } from './directory.ts';
import { HEADER, UNIT_SHIFT, VIEW, VIEW_FLAG } from './layout.ts';
import type { WriterMemory } from './memory.ts';
import { NO_OUTCOME } from './outcomes.ts';
import { NO_ROUTE, type PublicationId, type ViewId, type ViewSettings } from './types.ts';

/** The inputs for the keys of cached answers. */
export interface ViewCache {
  readonly salt: number;
  /** The number that the answers carry. */
  readonly number: number;
}

interface SharedCache extends ViewCache {
  /** The views that share the answers. */
  readonly views: Set<ViewId>;
}

interface View {
  readonly settings: ViewSettings;
  readonly cache: SharedCache;
}

export class ViewRecords {
  readonly #memory: WriterMemory;
  readonly #directory: Directory;
  readonly #drawSalt: () => number;
  readonly #hashWireName: (name: Uint8Array) => number;
  readonly #findRecord: (publication: PublicationId) => number;
  readonly #views = new Map<ViewId, View>();
  readonly #caches = new Map<number, SharedCache>();
  #nextCache = 0;

  /**
   * @param drawSalt a random number of 32 bits
   * @param hashWireName the unsalted hash of a name
   * @param getRecordOffset the octet of a publication's record
   */
  constructor(
    memory: WriterMemory,
    drawSalt: () => number,
    hashWireName: (name: Uint8Array) => number,
    getRecordOffset: (publication: PublicationId) => number,
  ) {
    this.#memory = memory;
    this.#drawSalt = drawSalt;
    this.#hashWireName = hashWireName;
    this.#findRecord = getRecordOffset;
    this.#directory = new Directory(memory, HEADER.VIEWS, 'views', 0);
  }

  /** @param sharing a view that shares its cached answers with this one */
  define(settings: ViewSettings, sharing?: ViewId): ViewId {
    const cache = sharing === undefined ? this.#drawCache() : this.#get(sharing).cache;
    const view = { settings, cache };
    // View ids are made only here.
    const id = this.#directory.add(this.#write(view)) as ViewId;
    this.#keep(id, view);
    return id;
  }

  change(id: ViewId, settings: ViewSettings, keepsCache: boolean): void {
    const before = this.#get(id);
    const view = { settings, cache: keepsCache ? before.cache : this.#drawCache() };
    const block = this.#write(view);
    const old = this.#directory.get(id);
    this.#directory.set(id, block);
    this.#forget(id, before);
    this.#keep(id, view);
    this.#retire(old);
  }

  remove(id: ViewId): void {
    this.#forget(id, this.#get(id));
    this.#retire(this.#directory.get(id));
    this.#memory.reclaimer.retire(() => this.#directory.release(id));
  }

  #keep(id: ViewId, view: View): void {
    this.#views.set(id, view);
    view.cache.views.add(id);
    this.#caches.set(view.cache.number, view.cache);
  }

  #forget(id: ViewId, { cache }: View): void {
    this.#views.delete(id);
    cache.views.delete(id);
    if (cache.views.size === 0) this.#caches.delete(cache.number);
  }

  getSettings(id: ViewId): ViewSettings {
    return this.#get(id).settings;
  }

  getCache(id: ViewId): ViewCache {
    return this.#get(id).cache;
  }

  /** A view whose cached answers carry this number; undefined once its views are all removed or have a new cache. */
  withCache(number: number): ViewId | undefined {
    const [view] = this.#caches.get(number)?.views ?? [];
    return view;
  }

  /** A view that shows a publication. */
  withPublication(publication: PublicationId): ViewId | undefined {
    for (const [id, { settings }] of this.#views)
      if (settings.searchLists === publication || settings.publications.includes(publication)) return id;
    return undefined;
  }

  #get(id: ViewId): View {
    const view = this.#views.get(id);
    if (view === undefined) throw new RangeError(`no such view: ${id}`);
    return view;
  }

  /** Draws a cache number. Old answers may keep a number for long, so each is reused as late as possible. */
  #drawCache(): SharedCache {
    do this.#nextCache = (this.#nextCache + 1) & 0xffff;
    while (this.#caches.has(this.#nextCache));
    return { salt: this.#drawSalt(), number: this.#nextCache, views: new Set() };
  }

  #write({ settings, cache }: View): number {
    const { publications } = settings;
    const { arena, views } = this.#memory;
    const places = publications.map((publication) => this.#findRecord(publication) >> UNIT_SHIFT);
    const rules = encodeAskRules(settings.askRules, this.#hashWireName);
    const rulesAt = VIEW.PUBLICATIONS + places.length * 4;
    const size = rulesAt + rules.length;
    const block = arena.take(size);
    const word = block >> 2;
    views.atoms[word] = cache.salt;
    views.words[word + (VIEW.CACHE >> 2)] =
      cache.number |
      (settings.recursionAvailable ? VIEW_FLAG.RECURSION_AVAILABLE : 0) |
      (settings.rotatesAddresses ? VIEW_FLAG.ROTATES : 0) |
      (settings.repeatsOpt === true ? VIEW_FLAG.REPEATS_OPT : 0) |
      (settings.sendsExtendedErrors === true ? VIEW_FLAG.EXTENDED_ERRORS : 0) |
      (settings.givesOfferedSize === true ? VIEW_FLAG.GIVES_OFFERED_SIZE : 0) |
      (settings.asksWithOptions === true ? VIEW_FLAG.ASKS_WITH_OPTIONS : 0) |
      ((settings.otherQuestions ?? 'ask') === 'ask' ? 0 : VIEW_FLAG.REFUSES_OTHERS) |
      (settings.otherQuestions === 'refused-but-chaos' ? VIEW_FLAG.ASKS_CHAOS : 0);
    views.words[word + (VIEW.COUNT >> 2)] = places.length;
    views.words[word + (VIEW.SIZE >> 2)] = size;
    views.words[word + (VIEW.RULES >> 2)] = rules.length === 0 ? 0 : rulesAt;
    const { chaos, others } = settings.refusalOutcomes ?? { chaos: NO_OUTCOME, others: NO_OUTCOME };
    views.words[word + (VIEW.REFUSALS >> 2)] = chaos | (others << 16);
    views.words[word + (VIEW.OUTCOMES >> 2)] = settings.outcomes?.nodes ?? NO_OUTCOME;
    views.words[word + (VIEW.CACHED_OUTCOMES >> 2)] = settings.outcomes?.cached ?? NO_OUTCOME;
    views.words[word + (VIEW.UDP_SIZE >> 2)] = settings.maxUdpSize ?? 0;
    views.words[word + (VIEW.ROUTE >> 2)] = settings.route ?? NO_ROUTE;
    views.words[word + (VIEW.SEARCH_LISTS >> 2)] =
      settings.searchLists === undefined ? 0 : this.#findRecord(settings.searchLists) >> UNIT_SHIFT;
    views.words[word + (VIEW.SEARCH_OUTCOMES >> 2)] = settings.outcomes?.searched ?? NO_OUTCOME;
    views.words.set(places, word + (VIEW.PUBLICATIONS >> 2));
    views.octets.set(rules, block + rulesAt);
    return block;
  }

  #retire(block: number): void {
    const { arena, reclaimer, views } = this.#memory;
    const size = views.words[(block + VIEW.SIZE) >> 2] ?? 0;
    reclaimer.retire(() => arena.give(block, size));
  }
}
