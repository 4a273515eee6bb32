/**
 * What answers of readers for a block are counted for, derived from what its handlers declare that they count.
 */
import type { Handler, HitCounts } from '../../chain/handler.ts';
import type { HandlerCount } from '../../chain/handler-counts.ts';
import type { Query } from '../../chain/query.ts';
import { CACHE_OUTCOMES } from '../../plugins/cache/cache-counts.ts';
import type { ViewOutcomes } from '../../table/types.ts';
import { type NameKey, TYPE } from '../../wire/types.ts';
import type { CountedZone, EntryOutcomes, OutcomeMeaning, ReaderCounts } from './reader-counts.ts';

/** A block at one of its zones. */
export interface ZoneOfBlock {
  readonly server: string;
  readonly zone: NameKey;
  /** In the order in which they see a query. */
  readonly handlers: readonly Handler[];
  /** Whether all answers are counted for the handler behind `prometheus`, as in CoreDNS. */
  readonly isStrict: boolean;
}

/** So many things may derived answers of a zone be counted for, and answers of a cache. */
const [DERIVED, KEPT] = [16, 8];

const NO_HITS: HitCounts = { success: [], denial: [] };

type CacheHandler = Extract<Handler, { readonly role: 'cache' }>;

/** Those of the blocks of a plan. */
export class BlockOutcomes {
  readonly #counts: ReaderCounts;
  #hasBegun = false;
  /** Whether the views at hand are the first ones of the plan. */
  #isFirst = false;

  constructor(counts: ReaderCounts) {
    this.#counts = counts;
  }

  /** To be called before views are made. What was answered until now counts for what it stood for. */
  begin(): void {
    this.#isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    if (this.#isFirst) this.#counts.catchUp();
  }

  /**
   * The outcomes of a view.
   *
   * @param readsNodes whether readers answer from what its publishers say
   * @returns nothing if there are no more
   */
  ofView(of: ZoneOfBlock, readsNodes: boolean): ViewOutcomes | undefined {
    const zone = countedZone(of);
    const cache = cacheOf(of);
    const entries = this.#entriesOf(of);
    if (cache !== undefined) entries.declare(entryMeanings(of, cache));
    // What was derived under another plan is given no more.
    else if (this.#isFirst) entries.clear();
    const cached = this.#counts.entryOutcomesOf(zone, entries);
    const meanings = readsNodes ? nodeMeanings(of) : [];
    // Without nodes it only says that the view has outcomes.
    const nodes = meanings.length === 0 ? cached : this.#counts.outcomesOf(zone, 'nodes', meanings);
    return nodes === undefined || cached === undefined ? undefined : { nodes, cached };
  }

  /** The first of those of questions that readers forward; undefined: there are no more. */
  ofForwarded(of: ZoneOfBlock): number | undefined {
    const place = of.handlers.findIndex(({ role }) => role === 'forwarder');
    const counts = passing(of.handlers.slice(0, Math.max(0, place)));
    return this.#counts.outcomesOf(countedZone(of), 'forwarded', [
      { plugin: pluginOf(of, 'forward'), counts },
    ]);
  }

  /** The outcome of an answer of the chain that readers are to give; undefined: there are no more. */
  ofAnswer(
    of: Omit<ZoneOfBlock, 'server' | 'zone'>,
    { site, answeredBy, counts }: Query,
  ): number | undefined {
    const zone = { ...of, server: site.server, zone: site.zone as NameKey };
    return this.#entriesOf(zone).numberOf({ plugin: pluginOf(zone, answeredBy), counts });
  }

  /** Those of the answers that the cache of a block keeps, and of the derived answers of a zone whose block has none. */
  #entriesOf(of: ZoneOfBlock): EntryOutcomes {
    const cache = cacheOf(of);
    return cache === undefined
      ? this.#counts.entriesOf(`zone ${of.server} ${of.zone}`, DERIVED)
      : this.#counts.entriesOf(`cache ${cache.view}`, KEPT);
  }
}

function countedZone({ server, zone, handlers }: ZoneOfBlock): CountedZone {
  return { server, zone, isCounted: handlers.some(({ name }) => name === COUNTER_OF_QUERIES) };
}

/** Of each publisher those of answers with records, and of denials. */
function nodeMeanings(of: ZoneOfBlock): readonly OutcomeMeaning[] {
  return of.handlers.flatMap((publisher, place) => {
    const { role, name } = publisher;
    if (role !== 'publisher') return [];
    const before = of.handlers.slice(0, place);
    return (['success', 'denial'] as const).map((kind) => ({
      plugin: pluginOf(of, name),
      // Names that the table holds are never missing in a cache before it.
      counts: before.flatMap((handler) =>
        handler.role === 'cache' ? hitsOf(handler, publisher, of.zone)[kind] : (handler.passing ?? []),
      ),
    }));
  });
}

function cacheOf({ handlers }: ZoneOfBlock): CacheHandler | undefined {
  return handlers.find((handler) => handler.role === 'cache');
}

/** None where only some of the names lie in the zones of the cache: readers do not know which. */
function hitsOf(cache: CacheHandler, { questions }: Handler, zone: NameKey): HitCounts {
  for (const { name } of questions.matches())
    if (!cache.questions.includes(name.kind === 'any' ? zone : name.name, TYPE.A)) return NO_HITS;
  return cache.hits;
}

/** By the outcomes that a cache gives its entries. */
function entryMeanings(of: ZoneOfBlock, cache: CacheHandler): readonly OutcomeMeaning[] {
  const before = passing(of.handlers.slice(0, of.handlers.indexOf(cache)));
  const meanings: OutcomeMeaning[] = [];
  for (const kind of ['success', 'denial'] as const) {
    const counts = [...before, ...cache.hits[kind]];
    meanings[CACHE_OUTCOMES[kind]] = { plugin: pluginOf(of, cache.name), counts };
  }
  return meanings;
}

function passing(handlers: readonly Handler[]): readonly HandlerCount[] {
  return handlers.flatMap((handler) => handler.passing ?? []);
}

/** Strictly as in CoreDNS the answers of all are those of the handler behind the one that counts them. */
function pluginOf({ handlers, isStrict }: Pick<ZoneOfBlock, 'handlers' | 'isStrict'>, name: string): string {
  if (!isStrict) return name;
  return handlers[handlers.findIndex((each) => each.name === COUNTER_OF_QUERIES) + 1]?.name ?? '';
}

const COUNTER_OF_QUERIES = 'prometheus';
