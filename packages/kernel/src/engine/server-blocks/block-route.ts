/**
 * The routes by which readers forward for blocks. Each zone of a listener group has its own route, because its answers are counted
 * separately.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import {
  addressesAnsweredBefore,
  type Handler,
  minLabelsForwarded,
  rotateAddresses,
} from '../../chain/handler.ts';
import type { QuerySite } from '../../chain/query.ts';
import {
  DIRECT_SERVERS,
  type DirectServers,
  KEPT_REPLIES,
  type KeptReplies,
} from '../../chain/reader-forwarding.ts';
import { type AnswerForm, NO_FLAG_CHANGE } from '../../forward/caching/answer-form.ts';
import type { FillConsumer } from '../../forward/reader-path/fill-ring.ts';
import type {
  ForwardedRoute,
  LinkedForwarder,
  RouteTerms,
} from '../../forward/reader-path/linked-forwarder.ts';
import type { RouteOutcomes } from '../../forward/reader-path/reader-policy.ts';
import type { Upstream } from '../../forward/upstream/upstream.ts';
import { NO_ROUTE } from '../../table/types.ts';

/** A zone whose questions readers may forward. */
export interface RoutedZone {
  readonly server: string;
  readonly zone: NameKey;
  /** The name of the block's view; empty: none. */
  readonly view: string;
  /** In the order in which they see a query. */
  readonly handlers: readonly Handler[];
  /** Whether readers answer from the names that its publishers have in the table. */
  readonly readsNodes: boolean;
  readonly outcomes: RouteOutcomes;
}

/** The servers of a zone, and the cache before them. */
interface Forwarding {
  readonly direct: DirectServers;
  /** Undefined: no cache. */
  readonly kept: KeptReplies | undefined;
}

export class BlockRoutes {
  readonly #opened: { readonly link: LinkedForwarder; readonly number: number }[] = [];

  /** @returns the number of the route, for views; `NO_ROUTE` if all questions go to the chain */
  open(zone: RoutedZone): number {
    const forwarding = findForwarding(zone);
    if (forwarding === undefined) return NO_ROUTE;
    const { link } = forwarding.direct;
    const number = link.open(new BlockRoute(zone, forwarding));
    this.#opened.push({ link, number });
    return number;
  }

  /** Closes all. No view has them any more. */
  close(): void {
    for (const { link, number } of this.#opened.splice(0)) link.close(number);
  }
}

/** The names of a zone that readers may not forward, with all names below them; undefined: all. */
export function namesNotForwarded(
  zone: Pick<RoutedZone, 'zone' | 'handlers' | 'readsNodes'>,
): readonly NameKey[] | undefined {
  const forwarding = findForwarding(zone);
  return forwarding && listExceptions(zone, forwarding);
}

function listExceptions(
  { handlers, readsNodes }: Pick<RoutedZone, 'handlers' | 'readsNodes'>,
  { direct, kept }: Forwarding,
): readonly NameKey[] | undefined {
  const before = addressesAnsweredBefore(handlers, readsNodes);
  return before && [...direct.exceptions, ...before, ...(kept?.exceptions ?? [])];
}

function findForwarding({ zone, handlers }: Pick<RoutedZone, 'zone' | 'handlers'>): Forwarding | undefined {
  const [findKept] = KEPT_REPLIES.findIn(handlers);
  const kept = findKept?.(zone);
  if (findKept !== undefined && kept === undefined) return undefined;
  const [findServers] = DIRECT_SERVERS.findIn(handlers);
  const direct = findServers?.(zone);
  return direct && { direct, kept };
}

class BlockRoute implements ForwardedRoute {
  readonly #zone: RoutedZone;
  readonly #forwarding: Forwarding;
  readonly #site: QuerySite;

  constructor(zone: RoutedZone, forwarding: Forwarding) {
    this.#zone = zone;
    this.#forwarding = forwarding;
    this.#site = { server: zone.server, zone: zone.zone, view: zone.view, octets: 0 };
  }

  terms(): RouteTerms | undefined {
    const { direct, kept } = this.#forwarding;
    const { handlers, outcomes } = this.#zone;
    const exceptions = direct.isUsable() ? listExceptions(this.#zone, this.#forwarding) : undefined;
    if (exceptions === undefined) return undefined;
    return {
      exceptions,
      minLabels: minLabelsForwarded(handlers),
      believesDenials: direct.believesDenials(),
      servesStaleAtOnce: kept?.servesStale === true,
      form: createAnswerForm(handlers, kept),
      cacheView: kept?.view,
      outcomes,
    };
  }

  told(clients: number): void {
    this.#forwarding.kept?.missed?.(clients);
  }

  observe(reply: FillConsumer, upstream: Upstream | undefined): void {
    this.#forwarding.direct.observe(reply, upstream);
  }

  keep(reply: FillConsumer, isEncoded: boolean): void {
    const { direct, kept } = this.#forwarding;
    if (!direct.isUsable()) return;
    kept?.keep(reply, { site: this.#site, isEncoded, trustsAd: direct.link.forwarder.trustsAd });
  }
}

function createAnswerForm(handlers: readonly Handler[], kept: KeptReplies | undefined): AnswerForm {
  if (kept?.form.kind === 'own') return kept.form;
  return {
    kind: 'as-sent',
    caching: kept?.form.caching,
    rotates: rotateAddresses(handlers),
    flags: handlers.find(({ flags }) => flags !== undefined)?.flags ?? NO_FLAG_CHANGE,
    dropsOpt: handlers.some(({ dropsOpt }) => dropsOpt === true),
  };
}
