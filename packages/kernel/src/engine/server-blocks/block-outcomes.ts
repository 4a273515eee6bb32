/**
 * The metrics that readers' answers for a block add to, derived from the counts that its handlers declare.
 */
import { type NameKey, TYPE } from '@portolan/dns/types.ts';
import { type Handler, type HandlerSearch, type HitCounts, listPublications } from '../../chain/handler.ts';
import type { HandlerCount } from '../../chain/handler-counts.ts';
import { CACHE_OUTCOMES } from '../../chain/outcomes.ts';
import type { Query } from '../../chain/query.ts';
import { MAX_SEARCHED, type ViewOutcomes } from '../../table/types.ts';
import type { BlockRules } from './block-rules.ts';
import type { CountedZone, EntryOutcomes, OutcomeMeaning, ReaderCounts } from './reader-counts.ts';

/** A block at one of its zones. */
export interface ZoneOfBlock {
  readonly server: string;
  readonly zone: NameKey;
  /** The name of the block's view; empty: none. */
  readonly view: string;
  /** In the order in which they see a query. */
  readonly handlers: readonly Handler[];
  readonly rules: Pick<BlockRules, 'countsByAnsweringPlugin'>;
}

/** Maximum number of meanings: of derived answers of a zone, and of the entries of a cache. */
const DERIVED = 16;
const KEPT = 8;

const NO_HITS: HitCounts = { success: [], denial: [] };

type CacheHandler = Extract<Handler, { readonly role: 'cache' }>;

/** The outcomes of the blocks of a plan. */
export class BlockOutcomes {
  readonly #counts: ReaderCounts;
  #hasBegun = false;
  /** Whether the current views are the first ones of the plan. */
  #isFirst = false;

  constructor(counts: ReaderCounts) {
    this.#counts = counts;
  }

  /** Call it before you make views. Earlier answers count with their former meanings. */
  begin(): void {
    this.#isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    if (this.#isFirst) this.#counts.catchUp();
  }

  /**
   * The outcomes of a view.
   *
   * @param readsNodes whether readers answer from the nodes of its publishers
   * @param search how they search for missing names
   * @returns undefined if no outcomes are left
   */
  ofView(of: ZoneOfBlock, readsNodes: boolean, search?: HandlerSearch): ViewOutcomes | undefined {
    const zone = countedZone(of);
    const cache = findCache(of);
    const entries = this.#getOrCreateEntries(of);
    if (cache !== undefined) entries.declare(entryMeanings(of, cache));
    // Readers no longer give answers derived under another plan.
    else if (this.#isFirst) entries.clear();
    const cached = this.#counts.claimEntryOutcomes(zone, entries);
    const meanings = readsNodes ? nodeMeanings(of) : [];
    // Without nodes, the value only marks that the view has outcomes.
    const nodes = meanings.length === 0 ? cached : this.#counts.claimOutcomes(zone, 'nodes', meanings);
    const searched = search && this.#counts.claimOutcomes(zone, 'searched', searchMeanings(of, search));
    if (nodes === undefined || cached === undefined) return undefined;
    return { nodes, cached, ...(searched !== undefined && { searched }) };
  }

  /** The first outcome of questions that readers forward; undefined if no outcomes are left. */
  ofForwarded(of: ZoneOfBlock): number | undefined {
    const place = of.handlers.findIndex(({ role }) => role === 'forwarder');
    const counts = passing(of.handlers.slice(0, Math.max(0, place)));
    return this.#counts.claimOutcomes(countedZone(of), 'forwarded', [
      { plugin: findCountedPlugin(of, of.handlers[place]?.name ?? ''), counts },
    ]);
  }

  /** The outcome of an answer of the chain that readers will give; undefined if no outcomes are left. */
  ofAnswer(
    of: Omit<ZoneOfBlock, 'server' | 'zone' | 'view'>,
    { site, answersLater, counts }: Query,
  ): number | undefined {
    const { server, view } = site;
    const zone = { ...of, server, zone: site.zone as NameKey, view };
    return this.#getOrCreateEntries(zone).assignNumber({
      plugin: findCountedPlugin(zone, answersLater),
      counts,
    });
  }

  /** The outcomes of the entries of a block's cache; without a cache, of the derived answers of the zone. */
  #getOrCreateEntries(of: ZoneOfBlock): EntryOutcomes {
    const cache = findCache(of);
    return cache === undefined
      ? this.#counts.getOrCreateEntries(`zone ${of.server} ${of.zone} ${of.view}`, DERIVED)
      : this.#counts.getOrCreateEntries(`cache ${cache.view}`, KEPT);
  }
}

function countedZone({ server, zone, view, handlers }: ZoneOfBlock): CountedZone {
  return { server, zone, view, isCounted: handlers.some(({ countsQueries }) => countsQueries) };
}

/** For each publication, the meanings of answers with records, and of denials. */
function nodeMeanings(of: ZoneOfBlock): readonly OutcomeMeaning[] {
  return of.handlers.flatMap((publisher, place) => {
    const { role, name } = publisher;
    if (role !== 'publisher') return [];
    const before = of.handlers.slice(0, place);
    const own = publisher.publishes?.counts ?? [];
    const meanings = (['success', 'denial'] as const).map((kind) => ({
      plugin: findCountedPlugin(of, name),
      // A cache before the publisher counts a hit for every name in the table.
      counts: [
        ...before.flatMap((handler) =>
          handler.role === 'cache'
            ? findHitCounts(handler, publisher, of.zone)[kind]
            : (handler.passing ?? []),
        ),
        ...own,
      ],
    }));
    return listPublications([publisher]).flatMap(() => meanings);
  });
}

/** In the order of `SEARCH_OUTCOME`, for each number of names tried. */
function searchMeanings(of: ZoneOfBlock, { found }: HandlerSearch): readonly OutcomeMeaning[] {
  const place = of.handlers.findIndex(({ search }) => search !== undefined);
  const publisher = of.handlers.find(({ role }, index) => role === 'publisher' && index > place);
  const cache = findCache(of);
  const before = passing(of.handlers.slice(0, place));
  const hits = cache?.hits ?? NO_HITS;
  const ofPublisher = findCountedPlugin(of, publisher?.name ?? '');
  const ofCache = findCountedPlugin(of, cache?.name ?? '');
  return Array.from({ length: MAX_SEARCHED }, (_, index) => {
    const denials = Array.from({ length: index + 1 }, () => hits.denial).flat();
    const counts = (last: HitCounts['success']) => [...before, ...denials, ...last];
    return [
      { plugin: ofPublisher, counts: [...counts(hits.success), ...found] },
      { plugin: ofPublisher, counts: [...counts(hits.denial), ...found] },
      { plugin: ofCache, counts: [...counts(hits.success), ...found] },
      { plugin: ofCache, counts: [...counts(hits.denial), ...found] },
      { plugin: ofPublisher, counts: counts(hits.denial) },
    ];
  }).flat();
}

function findCache({ handlers }: ZoneOfBlock): CacheHandler | undefined {
  return handlers.find((handler) => handler.role === 'cache');
}

/** Empty if some of the names are outside the zones of the cache: readers do not know which. */
function findHitCounts(cache: CacheHandler, { questions }: Handler, zone: NameKey): HitCounts {
  for (const { name } of questions.matches())
    if (!cache.questions.includes(name.kind === 'any' ? zone : name.name, TYPE.A)) return NO_HITS;
  return cache.hits;
}

/** Indexed by the outcomes that a cache gives its entries. */
function entryMeanings(of: ZoneOfBlock, cache: CacheHandler): readonly OutcomeMeaning[] {
  const before = passing(of.handlers.slice(0, of.handlers.indexOf(cache)));
  const meanings: OutcomeMeaning[] = [];
  for (const kind of ['success', 'denial'] as const) {
    const counts = [...before, ...cache.hits[kind]];
    meanings[CACHE_OUTCOMES[kind]] = { plugin: findCountedPlugin(of, cache.name), counts };
  }
  return meanings;
}

function passing(handlers: readonly Handler[]): readonly HandlerCount[] {
  return handlers.flatMap((handler) => handler.passing ?? []);
}

/** CoreDNS counts all answers for the handler behind the one that counts queries. */
function findCountedPlugin(
  { handlers, rules }: Pick<ZoneOfBlock, 'handlers' | 'rules'>,
  name: string,
): string {
  if (rules.countsByAnsweringPlugin) return name;
  return handlers[handlers.findIndex(({ countsQueries }) => countsQueries) + 1]?.name ?? '';
}
