/**
 * Server blocks in the table: the questions that readers may answer, for every zone of every listener group. The chain answers
 * all others.
 */
import { askRulesOf } from '../../chain/ask-rules.ts';
import { type Handler, type HandlerSearch, publicationsOf, rotateAddresses } from '../../chain/handler.ts';
import { CACHE_OUTCOMES } from '../../chain/outcomes.ts';
import { type GroupPlan, type SitePlan, viewOf } from '../../config/server/server-blocks-plan.ts';
import type { RouteOutcomes } from '../../forward/reader-path/reader-policy.ts';
import type { AskRule, ListenerGroupViews, ViewId, ViewOutcomes, ViewSettings } from '../../table/types.ts';
import { NO_ROUTE, VIEW_PATHS } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { type NameKey, TYPE } from '../../wire/types.ts';
import type { BlockOutcomes, ZoneOfBlock } from './block-outcomes.ts';
import { BlockRoutes, namesNotForwarded, type RoutedZone } from './block-route.ts';
import type { BlockRules } from './block-rules.ts';
import { type ChosenBlock, classesOf, showClasses } from './client-classes.ts';
import { MAX_PUBLICATIONS } from './kept-answers.ts';

/** A block, as far as its views depend on it. */
export interface ViewedBlock extends ChosenBlock {
  readonly rules: BlockRules;
}

export interface BlockViewsDependencies {
  readonly table: TableWriter;
  /** The number of a listener group. */
  readonly numberOf: (server: string) => number;
  /** The outcomes that readers count. */
  readonly outcomes: BlockOutcomes;
}

const NOTHING: ViewSettings = {
  publications: [],
  askRules: [],
  recursionAvailable: false,
  rotatesAddresses: false,
};
/**
 * For the chain: rare types with rules of their own. TXT is for `dns-version`, the only name with another TTL; the chain omits NS
 * if the name server has no address.
 */
// DS, DNSKEY, RRSIG, NSEC, NSEC3
export const RARE_TYPE_NUMBERS: ReadonlySet<number> = new Set([
  ...[TYPE.TXT, TYPE.ANY, TYPE.NS, TYPE.DS, 46, 47, 48, 50],
]);
const RARE_TYPES: AskRule = { name: { kind: 'any' }, types: RARE_TYPE_NUMBERS };
const NO_GROUP: ListenerGroupViews = { prefixes: [], others: { kind: 'asked' } };

export class BlockViews {
  readonly #dependencies: BlockViewsDependencies;
  #views: readonly ViewId[] = [];
  /** By the handlers of a block, then by server and zone. */
  readonly #derived = new Map<readonly Handler[], Map<string, ViewId>>();
  #routes = new BlockRoutes();

  constructor(dependencies: BlockViewsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Shows these groups in place of all former ones, with one store. @throws TableFullError; the views then stay as they were */
  show(groups: readonly GroupPlan[], blocks: readonly ViewedBlock[]): void {
    const { table, numberOf, outcomes } = this.#dependencies;
    outcomes.begin();
    const chain = table.defineView(NOTHING);
    const views: ViewId[] = [chain];
    // Set before they are shown: if the table is full, `remove` must find these.
    this.#views = views;
    const before = this.#routes;
    this.#routes = new BlockRoutes();
    const shown: ListenerGroupViews[] = [];
    for (const group of groups) {
      const { server } = group;
      const defined = new Map<SitePlan, ViewId>();
      const viewOf = (site: SitePlan | 'asked'): ViewId => {
        const viewed = site === 'asked' ? undefined : blocks[site.block];
        if (site === 'asked' || viewed === undefined) return chain;
        const known = defined.get(site);
        const view = known ?? this.#define(server, site.zone, viewed) ?? chain;
        if (known === undefined && view !== chain) views.push(view);
        defined.set(site, view);
        return view;
      };
      shown[numberOf(server)] = showClasses(classesOf(group, blocks), chain, viewOf);
    }
    table.showViews(Array.from(shown, (each) => each ?? NO_GROUP));
    before.close();
  }

  /** Call it once other views are shown. */
  remove(): void {
    for (const view of this.#views) this.#dependencies.table.removeView(view);
    this.#views = [];
    this.#derived.clear();
    this.#routes.close();
  }

  /** The view with the derived answers of a zone; undefined: they are not stored, or these views are not shown. */
  derivedViewOf(handlers: readonly Handler[], server: string, zone: string): ViewId | undefined {
    return this.#derived.get(handlers)?.get(`${server} ${zone}`);
  }

  #define(server: string, zone: NameKey, block: ViewedBlock): ViewId | undefined {
    const { table } = this.#dependencies;
    const { plan, handlers, rules } = block;
    const [hasNodes, cache] = [hasReadNodes(block), readCacheOf(block)];
    const of = { server, zone, view: viewOf(plan), handlers, rules };
    const search = hasNodes ? readSearchOf(handlers) : undefined;
    const outcomes = this.#dependencies.outcomes.ofView(of, hasNodes, search);
    const derives = mayDerive(handlers) && outcomes !== undefined;
    const route =
      outcomes === undefined ? NO_ROUTE : this.#openRoute({ ...of, readsNodes: hasNodes }, outcomes);
    if (!hasNodes && cache === undefined && !derives && route === NO_ROUTE) return undefined;
    const settings: ViewSettings = {
      publications: hasNodes ? publicationsOf(handlers) : [],
      askRules: [...askRulesOf(handlers), RARE_TYPES],
      recursionAvailable: false,
      rotatesAddresses: rotateAddresses(handlers),
      repeatsOpt: true,
      asksWithOptions: handlers.some(({ readsOptions }) => readsOptions === true),
      sendsExtendedErrors: rules.sendsExtendedErrors,
      givesOfferedSize: !rules.boundsUdpSize,
      maxUdpSize: handlers.find(({ maxUdpSize }) => maxUdpSize !== undefined)?.maxUdpSize,
      ...(outcomes && { outcomes }),
      ...(search !== undefined && { searchLists: search.lists }),
      route,
    };
    const view = table.defineView(settings, cache);
    if (derives) {
      const ofBlock = this.#derived.get(handlers) ?? new Map<string, ViewId>();
      this.#derived.set(handlers, ofBlock.set(`${server} ${zone}`, view));
    }
    return view;
  }

  #openRoute(
    of: ZoneOfBlock & Pick<RoutedZone, 'readsNodes'> & Pick<ViewedBlock, 'rules'>,
    { cached }: ViewOutcomes,
  ): number {
    if (!of.rules.readersForward || namesNotForwarded(of) === undefined) return NO_ROUTE;
    const forwarded = this.#dependencies.outcomes.ofForwarded(of);
    if (forwarded === undefined) return NO_ROUTE;
    return this.#routes.open({ ...of, outcomes: routeOutcomesOf(forwarded, cached) });
  }
}

/** @param forwarded the first outcome of forwarded questions @param cached that of cached answers */
function routeOutcomesOf(forwarded: number, cached: number): RouteOutcomes {
  const { success, denial } = CACHE_OUTCOMES;
  const outcomeOf = (kept: number) => cached + kept * VIEW_PATHS;
  return {
    ...{ forwarded, byPath: true },
    kept: { positive: success, negative: denial },
    repeated: { positive: outcomeOf(success), negative: outcomeOf(denial) },
  };
}

/** The view with the cached answers that readers give; undefined: none. */
export function readCacheOf({ handlers }: ViewedBlock): ViewId | undefined {
  return handlers.find((handler) => handler.role === 'cache')?.view;
}

/** How readers search for missing names. Only answers of a cache behind the search are those that it finds. */
function readSearchOf(handlers: readonly Handler[]): HandlerSearch | undefined {
  const place = handlers.findIndex(({ search }) => search !== undefined);
  const cache = handlers.findIndex(({ role }) => role === 'cache');
  return place >= 0 && (cache < 0 || place < cache) ? handlers[place]?.search : undefined;
}

/** Whether there are names that readers answer as the chain would. */
export function hasReadNodes({ handlers, rules }: ViewedBlock): boolean {
  if (!rules.readersAnswerNames) return false;
  const lastPublisher = handlers.findLastIndex(({ role }) => role === 'publisher');
  return lastPublisher >= 0 && handlers.every(passesUnknown) && keepsTtls(handlers);
}

/** Whether the handlers of a block without `cache` may make answers only from the Corefile and their publications. */
export function mayDerive(handlers: readonly Handler[]): boolean {
  if (publicationsOf(handlers).length > MAX_PUBLICATIONS || handlers.some(({ role }) => role === 'cache'))
    return false;
  return handlers.some(
    ({ role, questions }) =>
      role !== 'forwarder' && questions.matches()[Symbol.iterator]().next().done !== true,
  );
}

function passesUnknown(handler: Handler): boolean {
  return handler.role !== 'publisher' || handler.deniesUnknown !== true;
}

/** Whether readers can give the TTLs that the cache leaves or makes. */
function keepsTtls(handlers: readonly Handler[]): boolean {
  const bounds = handlers.flatMap((handler) => (handler.role === 'cache' ? (handler.ttlBounds ?? []) : []));
  const publishers = handlers.filter((handler) => handler.role === 'publisher');
  return bounds.every((each) => publishers.every((publisher) => publisher.keepsTtls?.(each) !== false));
}
