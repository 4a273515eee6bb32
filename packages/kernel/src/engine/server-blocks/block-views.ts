/**
 * Server blocks in the table: the questions that readers may answer, for every class of clients and every zone of every listener group.
 * The chain answers all others.
 */
import { TYPE } from '@portolan/dns/types.ts';
import { listAskRules } from '../../chain/ask-rules.ts';
import { type Handler, type HandlerSearch, listPublications, rotateAddresses } from '../../chain/handler.ts';
import { CACHE_OUTCOMES, CHAIN_OUTCOME, RESOLVER_OUTCOME } from '../../chain/outcomes.ts';
import type { RouteOutcomes } from '../../forward/reader-path/reader-policy.ts';
import {
  type GroupPlan,
  getViewName,
  type ResponsePlan,
  type SitePlan,
} from '../../plan/server-blocks-plan.ts';
import { NO_OUTCOME } from '../../table/outcomes.ts';
import type {
  AskRule,
  ListenerGroupViews,
  PublicationId,
  ViewId,
  ViewOutcomes,
  ViewSettings,
} from '../../table/types.ts';
import { DEFAULT_VIEW, NO_ROUTE, VIEW_PATHS } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { MAX_PUBLICATIONS } from './answers-from-cache.ts';
import type { BlockOutcomes, ZoneOfBlock } from './block-outcomes.ts';
import { BlockRoutes, namesNotForwarded } from './block-route.ts';
import type { BlockRules } from './block-rules.ts';
import { type ChosenBlock, type ChosenSite, createClientClasses, showClasses } from './client-classes.ts';
import type { ServedNetworks } from './served-networks.ts';

/** A block, as far as its views depend on it. */
export interface ViewedBlock extends ChosenBlock {
  readonly rules: BlockRules;
}

export interface BlockViewsDependencies {
  readonly table: TableWriter;
  readonly responses: ResponsePlan;
  /** The number of a listener group. */
  readonly getListenerGroupNumber: (server: string) => number;
  /** The outcomes that readers count, for answers that count by site. */
  readonly outcomes: BlockOutcomes;
  readonly networks: Pick<ServedNetworks, 'strangers'>;
}

/** A zone of a listener group in the table. */
interface ViewedZone extends ZoneOfBlock {
  readonly block: ViewedBlock;
  /** Whether readers answer from the names of publishers. */
  readonly readsNodes: boolean;
  /** Shown before the publications of the block. */
  readonly first: PublicationId | undefined;
  readonly made: MadeViews;
}

/** By the handlers of a block, then by server and zone. */
type DerivedViews = Map<readonly Handler[], Map<string, ViewId>>;

/** What one call of `show` makes. */
class MadeViews {
  readonly views: ViewId[] = [];
  readonly routes = new BlockRoutes();
  readonly derived: DerivedViews = new Map();
  hasChangedDefault = false;
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
  TYPE.TXT,
  TYPE.ANY,
  TYPE.NS,
  TYPE.DS,
  46,
  47,
  48,
  50,
]);
const RARE_TYPES: AskRule = { name: { kind: 'any' }, types: RARE_TYPE_NUMBERS };
const NO_GROUP: ListenerGroupViews = { prefixes: [], others: { kind: 'asked' } };

export class BlockViews {
  readonly #dependencies: BlockViewsDependencies;
  #views: readonly ViewId[] = [];
  #derived: DerivedViews = new Map();
  /** Those of the views; more than one after a change that failed. */
  #routes: readonly BlockRoutes[] = [];

  constructor(dependencies: BlockViewsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Shows these groups in place of all former ones, with one store.
   *
   * @throws TableFullError; the former views stay, or the default view is the new one
   */
  show(groups: readonly GroupPlan[], blocks: readonly ViewedBlock[]): void {
    const { table, getListenerGroupNumber, outcomes } = this.#dependencies;
    outcomes.begin();
    const made = new MadeViews();
    try {
      const shown: ListenerGroupViews[] = [];
      for (const group of groups)
        shown[getListenerGroupNumber(group.server)] = this.#showGroup(group, blocks, made);
      table.showViews(isDefaultView(shown) ? undefined : Array.from(shown, (each) => each ?? NO_GROUP));
    } catch (error) {
      this.#abandon(made);
      throw error;
    }
    const before = { views: this.#views, routes: this.#routes };
    this.#views = made.views;
    this.#routes = [made.routes];
    this.#derived = made.derived;
    for (const view of before.views) table.removeView(view);
    for (const routes of before.routes) routes.close();
  }

  /** Removes views that were made and not shown. */
  #abandon(made: MadeViews): void {
    for (const view of made.views) this.#dependencies.table.removeView(view);
    const [shown, ...failed] = this.#routes;
    if (!made.hasChangedDefault) {
      made.routes.close();
      return;
    }
    // The default view has the new route, and all other views have those of the last success.
    this.#routes = shown === undefined ? [made.routes] : [shown, made.routes];
    for (const routes of failed) routes.close();
  }

  /** Call it once other views are shown. */
  remove(): void {
    for (const view of this.#views) this.#dependencies.table.removeView(view);
    this.#views = [];
    this.#derived = new Map();
    for (const routes of this.#routes) routes.close();
    this.#routes = [];
  }

  /** The view with the derived answers of a zone; undefined: they are not stored, or these views are not shown. */
  findDerivedView(handlers: readonly Handler[], server: string, zone: string): ViewId | undefined {
    return this.#derived.get(handlers)?.get(`${server} ${zone}`);
  }

  #showGroup(group: GroupPlan, blocks: readonly ViewedBlock[], made: MadeViews): ListenerGroupViews {
    const { table, networks, responses } = this.#dependencies;
    const isLenient = responses.form.acceptance === 'lenient';
    const chain = isLenient ? table.defineView(NOTHING) : DEFAULT_VIEW;
    if (chain !== DEFAULT_VIEW) made.views.push(chain);
    const known = new Map<PublicationId | undefined, Map<SitePlan, ViewId>>();
    const viewFor = (chosen: ChosenSite | 'asked'): ViewId => {
      const block = chosen === 'asked' ? undefined : blocks[chosen.site.block];
      if (chosen === 'asked' || block === undefined) return chain;
      const { site, first } = chosen;
      const ofFirst = known.get(first) ?? new Map<SitePlan, ViewId>();
      known.set(first, ofFirst);
      const view = ofFirst.get(site) ?? this.#defineSite(made, group.server, chosen, block) ?? chain;
      if (!ofFirst.has(site) && view !== chain && view !== DEFAULT_VIEW) made.views.push(view);
      ofFirst.set(site, view);
      return view;
    };
    // The default view follows the block even if all clients have views of their own: it must show nothing that is removed.
    if (responses.counting.by === 'domain')
      for (const site of group.sites) viewFor({ site, first: undefined });
    return showClasses(createClientClasses(group, blocks), {
      viewFor,
      outside: isLenient ? chain : undefined,
      asksOdd: isLenient,
      strangers: servesOnlyNetworks(group, blocks) ? networks.strangers : undefined,
    });
  }

  #defineSite(
    made: MadeViews,
    server: string,
    { site: { zone }, first }: ChosenSite,
    block: ViewedBlock,
  ): ViewId | undefined {
    const { plan, handlers, rules } = block;
    const readsNodes = hasReadNodes(block);
    const viewed = { server, zone, view: getViewName(plan), handlers, rules, block, readsNodes, first, made };
    return this.#dependencies.responses.counting.by === 'site'
      ? this.#defineCountedBySite(viewed)
      : this.#defineCountedByDomain(viewed);
  }

  #defineCountedBySite(viewed: ViewedZone): ViewId | undefined {
    const { table } = this.#dependencies;
    const { server, zone, handlers, readsNodes } = viewed;
    const cache = findReaderCache(viewed.block);
    const search = readsNodes ? findReaderSearch(handlers) : undefined;
    const outcomes = this.#dependencies.outcomes.ofView(viewed, readsNodes, search);
    const derives = mayDerive(handlers) && outcomes !== undefined;
    const route = outcomes === undefined ? NO_ROUTE : this.#openCountedRoute(viewed, outcomes);
    if (!readsNodes && cache === undefined && !derives && route === NO_ROUTE) return undefined;
    const settings: ViewSettings = {
      ...this.#makeSettings(viewed, route),
      ...(outcomes && { outcomes }),
      ...(search !== undefined && { searchLists: search.lists }),
    };
    const view = table.defineView(settings, cache);
    if (derives) {
      const { derived } = viewed.made;
      const ofBlock = derived.get(handlers) ?? new Map<string, ViewId>();
      derived.set(handlers, ofBlock.set(`${server} ${zone}`, view));
    }
    return view;
  }

  /** All views share the cache of the process, since answers from upstream do not depend on the client. It outlives plans. */
  #defineCountedByDomain(viewed: ViewedZone): ViewId {
    const { table, responses } = this.#dependencies;
    const { counting } = responses;
    const hasDomain = counting.by === 'domain' && counting.domain !== undefined;
    const { answered } = RESOLVER_OUTCOME;
    const outcomes: RouteOutcomes = {
      forwarded: hasDomain ? CHAIN_OUTCOME.others : NO_OUTCOME,
      byPath: false,
      kept: { positive: answered, negative: answered },
      repeated: { positive: answered, negative: answered },
    };
    const settings: ViewSettings = {
      ...this.#makeSettings(viewed, viewed.made.routes.open({ ...viewed, outcomes })),
      // Answers about the server count with names of the domain.
      ...(hasDomain && { refusalOutcomes: { chaos: CHAIN_OUTCOME.ours, others: CHAIN_OUTCOME.others } }),
    };
    if (viewed.first !== undefined) return table.defineView(settings, DEFAULT_VIEW);
    table.changeView(DEFAULT_VIEW, settings);
    viewed.made.hasChangedDefault = true;
    return DEFAULT_VIEW;
  }

  #makeSettings({ block, handlers, readsNodes, first }: ViewedZone, route: number): ViewSettings {
    const { form, rotatesAddresses } = this.#dependencies.responses;
    const isLenient = form.acceptance === 'lenient';
    return {
      publications: [
        ...(first === undefined ? [] : [first]),
        ...(readsNodes ? listPublications(handlers) : []),
      ],
      askRules: [...listAskRules(handlers), ...(isLenient ? [RARE_TYPES] : [])],
      recursionAvailable: form.recursionAvailable === true,
      rotatesAddresses: rotatesAddresses === 'as-handlers-say' ? rotateAddresses(handlers) : rotatesAddresses,
      ...(!isLenient && { otherQuestions: refuseOthers(handlers) }),
      repeatsOpt: form.opt.kind === 'repeated',
      asksWithOptions: handlers.some(({ readsOptions }) => readsOptions === true),
      sendsExtendedErrors: form.extendedErrors === 'all',
      givesOfferedSize: !block.rules.boundsUdpSize,
      maxUdpSize: handlers.find(({ maxUdpSize }) => maxUdpSize !== undefined)?.maxUdpSize,
      route,
    };
  }

  #openCountedRoute(of: ViewedZone, { cached }: ViewOutcomes): number {
    if (!of.block.rules.readersForward || namesNotForwarded(of) === undefined) return NO_ROUTE;
    const forwarded = this.#dependencies.outcomes.ofForwarded(of);
    if (forwarded === undefined) return NO_ROUTE;
    return of.made.routes.open({ ...of, outcomes: makeRouteOutcomes(forwarded, cached) });
  }
}

/** Readers answer questions of other classes as the first handlers do. */
function refuseOthers(handlers: readonly Handler[]): 'refused' | 'refused-but-chaos' {
  return handlers.some(({ answersClasses }) => answersClasses === 'chaos') ? 'refused-but-chaos' : 'refused';
}

function servesOnlyNetworks({ sites }: GroupPlan, blocks: readonly ViewedBlock[]): boolean {
  return sites.some(({ block }) => blocks[block]?.plan.clients?.servesOnlyNetworks === true);
}

/** Whether all clients and names have the view that every table has: readers then need not choose. */
function isDefaultView(groups: readonly ListenerGroupViews[]): boolean {
  const [only] = groups;
  if (groups.length !== 1 || only === undefined || only.prefixes.length > 0) return false;
  const { others } = only;
  if (others.kind !== 'views' || others.asksOdd === true || others.zones.length !== 1) return false;
  return others.zones[0]?.view === DEFAULT_VIEW;
}

/** @param forwarded the first outcome of forwarded questions @param cached that of cached answers */
function makeRouteOutcomes(forwarded: number, cached: number): RouteOutcomes {
  const { success, denial } = CACHE_OUTCOMES;
  const toOutcome = (kept: number) => cached + kept * VIEW_PATHS;
  return {
    forwarded,
    byPath: true,
    kept: { positive: success, negative: denial },
    repeated: { positive: toOutcome(success), negative: toOutcome(denial) },
  };
}

/** The view with the cached answers that readers give; undefined: none. */
export function findReaderCache({ handlers }: ViewedBlock): ViewId | undefined {
  return handlers.find((handler) => handler.role === 'cache')?.view;
}

/** How readers search for missing names. Only answers of a cache behind the search are those that it finds. */
function findReaderSearch(handlers: readonly Handler[]): HandlerSearch | undefined {
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
  if (listPublications(handlers).length > MAX_PUBLICATIONS || handlers.some(({ role }) => role === 'cache'))
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
