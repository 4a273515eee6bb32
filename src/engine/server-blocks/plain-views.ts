/**
 * The only block of our own front ends in the table: the default view. It lives as long as the process, so that cached answers
 * outlive plans.
 */
import { askRulesOf } from '../../chain/ask-rules.ts';
import { type Handler, publicationsOf } from '../../chain/handler.ts';
import { CHAIN_OUTCOME, RESOLVER_OUTCOME } from '../../chain/outcomes.ts';
import type { CountingPlan, ResponsePlan, ServerBlockPlan } from '../../config/server/server-blocks-plan.ts';
import { NO_OUTCOME } from '../../table/outcomes.ts';
import type { LocalisedPublication, PublicationId, ViewSettings } from '../../table/types.ts';
import { ROOT } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import { BlockRoutes, type RoutedZone } from './block-route.ts';
import type { NetworkViews } from './network-views.ts';

export interface PlainBlock {
  readonly plan: ServerBlockPlan;
  /** In the order in which they see a query. */
  readonly handlers: readonly Handler[];
  readonly localised: readonly LocalisedPublication[];
}

export class PlainViews {
  readonly #views: NetworkViews;
  readonly #responses: ResponsePlan;
  readonly #routes = new BlockRoutes();
  /** The route by which readers forward. Its terms follow the handlers; undefined: not shown yet. */
  #route: number | undefined;
  /** The publications shown now. */
  #publications: readonly PublicationId[] = [];

  constructor(views: NetworkViews, responses: ResponsePlan) {
    this.#views = views;
    this.#responses = responses;
  }

  get publications(): readonly PublicationId[] {
    return this.#publications;
  }

  /** Shows the publications of the block from now on, with one store. @throws TableFullError; the views then stay as they were */
  show({ plan, handlers, localised }: PlainBlock): void {
    this.#route ??= this.#routes.open(routedZoneOf(handlers, this.#responses));
    const settings = compileView(handlers, this.#responses, this.#route);
    this.#views.show({ settings, clients: plan.clients, localised });
    this.#publications = settings.publications;
  }

  /** Call it once other blocks are shown, or all listeners are closed. */
  remove(): void {
    this.#routes.close();
    this.#route = undefined;
  }
}

function routedZoneOf(handlers: readonly Handler[], { counting }: ResponsePlan): RoutedZone {
  const { answered } = RESOLVER_OUTCOME;
  const outcomes = {
    ...{ forwarded: domainOf(counting) === undefined ? NO_OUTCOME : CHAIN_OUTCOME.others, byPath: false },
    kept: { positive: answered, negative: answered },
    repeated: { positive: answered, negative: answered },
  };
  return { server: '', zone: ROOT, view: '', handlers, readsNodes: true, outcomes };
}

/** The publications to look up, and the questions that handlers must see first. */
export function compileView(
  handlers: readonly Handler[],
  { form, rotatesAddresses, counting }: ResponsePlan,
  route?: number,
): ViewSettings {
  return {
    publications: publicationsOf(handlers),
    askRules: [...askRulesOf(handlers)],
    recursionAvailable: form.recursionAvailable === true,
    sendsExtendedErrors: form.extendedErrors === 'all',
    rotatesAddresses: rotatesAddresses === true,
    // Readers answer these as the first handlers do.
    otherQuestions: handlers.some(({ answersClasses }) => answersClasses === 'chaos')
      ? 'refused-but-chaos'
      : 'refused',
    // If answers are counted by the cluster's domain, those about the server count with its names.
    ...(domainOf(counting) !== undefined && {
      refusalOutcomes: { chaos: CHAIN_OUTCOME.ours, others: CHAIN_OUTCOME.others },
    }),
    ...(route !== undefined && { route }),
  };
}

function domainOf(counting: CountingPlan): NameKey | undefined {
  return counting.by === 'domain' ? counting.domain : undefined;
}
