/**
 * The only block of our own front ends in the table: the default view. It lives as long as the process, so that cached answers
 * outlive plans.
 */
import { askRulesOf } from '../../chain/ask-rules.ts';
import { type Handler, publicationsOf } from '../../chain/handler.ts';
import { CHAIN_OUTCOME } from '../../chain/outcomes.ts';
import type { PlainResponses, ServerBlockPlan } from '../../config/server/server-blocks-plan.ts';
import type { LocalisedPublication } from '../../sources/local/localised-publications.ts';
import type { PublicationId, ViewSettings } from '../../table/types.ts';
import type { NetworkViews } from './network-views.ts';

export interface PlainBlock {
  readonly plan: ServerBlockPlan;
  /** In the order in which they see a query. */
  readonly handlers: readonly Handler[];
  readonly localised: readonly LocalisedPublication[];
  /** The route by which readers forward. */
  readonly route: number | undefined;
}

export class PlainViews {
  readonly #views: NetworkViews;
  readonly #responses: PlainResponses;
  /** The publications shown now. */
  #publications: readonly PublicationId[] = [];

  constructor(views: NetworkViews, responses: PlainResponses) {
    this.#views = views;
    this.#responses = responses;
  }

  get publications(): readonly PublicationId[] {
    return this.#publications;
  }

  /** Shows the publications of the block from now on, with one store. @throws TableFullError; the views then stay as they were */
  show({ plan, handlers, localised, route }: PlainBlock): void {
    const settings = compileView(handlers, this.#responses, route);
    this.#views.show({ settings, clients: plan.clients, localised });
    this.#publications = settings.publications;
  }
}

/** The publications to look up, and the questions that handlers must see first. */
export function compileView(
  handlers: readonly Handler[],
  { recursionAvailable, rotatesAddresses, domain, sendsExtendedErrors = false }: Omit<PlainResponses, 'kind'>,
  route?: number,
): ViewSettings {
  return {
    publications: publicationsOf(handlers),
    askRules: [...askRulesOf(handlers)],
    ...{ recursionAvailable, sendsExtendedErrors },
    rotatesAddresses,
    // Readers answer these as the first handlers do.
    otherQuestions: handlers.some(({ name }) => name === 'chaos') ? 'refused-but-chaos' : 'refused',
    // If answers are counted by the cluster's domain, those about the server count with its names.
    ...(domain && { refusalOutcomes: { chaos: CHAIN_OUTCOME.ours, others: CHAIN_OUTCOME.others } }),
    ...(route !== undefined && { route }),
  };
}
