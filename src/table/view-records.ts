/**
 * The writer's side of views: their records, and the caches that belong to them.
 */
import { encodeAskRules } from './ask-rules.ts';
import { Directory } from './directory.ts';
import { HEADER, UNIT_SHIFT, VIEW, VIEW_FLAG } from './layout.ts';
import type { WriterMemory } from './memory.ts';
import type { PublicationId, ViewId, ViewSettings } from './types.ts';

interface View {
  settings: ViewSettings;
  salt: number;
  /** The number that its cached answers carry. */
  cache: number;
}

/** What of a view the key of a cached answer is made with. */
export type ViewCache = Pick<View, 'salt' | 'cache'>;

export class ViewRecords {
  readonly #memory: WriterMemory;
  readonly #directory: Directory;
  readonly #drawSalt: () => number;
  readonly #hashOf: (name: Uint8Array) => number;
  readonly #recordOf: (publication: PublicationId) => number;
  readonly #views = new Map<ViewId, View>();
  readonly #byCache = new Map<number, ViewId>();
  #nextCache = 0;

  /**
   * @param drawSalt a random number of 32 bits
   * @param hashOf the unsalted hash of a name
   * @param recordOf the octet of a publication's record
   */
  constructor(
    memory: WriterMemory,
    drawSalt: () => number,
    hashOf: (name: Uint8Array) => number,
    recordOf: (publication: PublicationId) => number,
  ) {
    this.#memory = memory;
    this.#drawSalt = drawSalt;
    this.#hashOf = hashOf;
    this.#recordOf = recordOf;
    this.#directory = new Directory(memory, HEADER.VIEWS, 'views', 0);
  }

  define(settings: ViewSettings): ViewId {
    const view = { settings, salt: this.#drawSalt(), cache: this.#claimCache() };
    // The only maker of view ids.
    const id = this.#directory.add(this.#write(view)) as ViewId;
    this.#views.set(id, view);
    this.#byCache.set(view.cache, id);
    return id;
  }

  change(id: ViewId, settings: ViewSettings, keepsCache: boolean): void {
    const before = this.#get(id);
    const fresh = keepsCache ? before : { salt: this.#drawSalt(), cache: this.#claimCache() };
    const view = { settings, salt: fresh.salt, cache: fresh.cache };
    const block = this.#write(view);
    const old = this.#directory.get(id);
    this.#directory.set(id, block);
    this.#views.set(id, view);
    this.#byCache.delete(before.cache);
    this.#byCache.set(view.cache, id);
    this.#retire(old);
  }

  remove(id: ViewId): void {
    const view = this.#get(id);
    this.#views.delete(id);
    this.#byCache.delete(view.cache);
    this.#retire(this.#directory.get(id));
    this.#memory.reclaimer.retire(() => this.#directory.release(id));
  }

  settingsOf(id: ViewId): ViewSettings {
    return this.#get(id).settings;
  }

  cacheOf(id: ViewId): ViewCache {
    return this.#get(id);
  }

  /** The view whose cached answers carry this number; undefined once it has drawn another salt, or is removed. */
  withCache(cache: number): ViewId | undefined {
    return this.#byCache.get(cache);
  }

  /** A view that shows a publication. */
  withPublication(publication: PublicationId): ViewId | undefined {
    for (const [id, { settings }] of this.#views) if (settings.publications.includes(publication)) return id;
    return undefined;
  }

  #get(id: ViewId): View {
    const view = this.#views.get(id);
    if (view === undefined) throw new RangeError(`no such view: ${id}`);
    return view;
  }

  /** Old answers may carry a number for long, so each is used again as late as can be. */
  #claimCache(): number {
    do this.#nextCache = (this.#nextCache + 1) & 0xffff;
    while (this.#byCache.has(this.#nextCache));
    return this.#nextCache;
  }

  #write({ settings, salt, cache }: View): number {
    const { publications } = settings;
    const { arena, views } = this.#memory;
    const places = publications.map((publication) => this.#recordOf(publication) >> UNIT_SHIFT);
    const rules = encodeAskRules(settings.askRules, this.#hashOf);
    const rulesAt = VIEW.PUBLICATIONS + places.length * 4;
    const size = rulesAt + rules.length;
    const block = arena.take(size);
    const word = block >> 2;
    views.atoms[word] = salt;
    views.words[word + (VIEW.CACHE >> 2)] =
      cache |
      (settings.recursionAvailable ? VIEW_FLAG.RECURSION_AVAILABLE : 0) |
      (settings.rotatesAddresses ? VIEW_FLAG.ROTATES : 0) |
      ((settings.otherQuestions ?? 'ask') === 'ask' ? 0 : VIEW_FLAG.REFUSES_OTHERS) |
      (settings.otherQuestions === 'refused-but-chaos' ? VIEW_FLAG.ASKS_CHAOS : 0);
    views.words[word + (VIEW.COUNT >> 2)] = places.length;
    views.words[word + (VIEW.SIZE >> 2)] = size;
    views.words[word + (VIEW.RULES >> 2)] = rules.length === 0 ? 0 : rulesAt;
    const { chaos, others } = settings.refusalOutcomes ?? { chaos: 0, others: 0 };
    views.words[word + (VIEW.REFUSALS >> 2)] = chaos | (others << 16);
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
