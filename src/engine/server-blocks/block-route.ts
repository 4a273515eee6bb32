/**
 * The routes by which readers forward for server blocks. Each zone of a listener group has its own route, because its answers are
 * counted separately.
 */
import {
  addressesAnsweredBefore,
  type DirectServers,
  type Handler,
  type KeptReplies,
  minLabelsForwarded,
} from '../../chain/handler.ts';
import type { QuerySite } from '../../chain/query.ts';
import { type FlagChange, NO_FLAG_CHANGE } from '../../forward/caching/answer-form.ts';
import type { Forwarder } from '../../forward/forwarder.ts';
import type { FillConsumer } from '../../forward/reader-path/fill-ring.ts';
import type {
  ForwardedRoute,
  LinkedForwarder,
  RouteTerms,
} from '../../forward/reader-path/linked-forwarder.ts';
import type { ReaderPath } from '../../forward/reader-path/reader-path.ts';
import type { RouteOutcomes } from '../../forward/reader-path/reader-policy.ts';
import type { Upstream } from '../../forward/upstream/upstream.ts';
import { CACHE_OUTCOMES } from '../../plugins/cache/cache-counts.ts';
import { NO_ROUTE, VIEW_PATHS } from '../../table/types.ts';
import type { NameKey } from '../../wire/types.ts';

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
  /** The first outcomes of forwarded questions, and of cached answers. */
  readonly outcomes: { readonly forwarded: number; readonly cached: number };
}

export class BlockRoutes {
  readonly #path: ReaderPath;
  readonly #links = new Map<Forwarder, LinkedForwarder>();

  constructor(path: ReaderPath) {
    this.#path = path;
  }

  /** @returns the number of the route, for views; `NO_ROUTE` if all questions go to the chain */
  open(zone: RoutedZone): number {
    const direct = directServersOf(zone);
    if (direct === undefined) return NO_ROUTE;
    const link = this.#links.get(direct.forwarder) ?? this.#path.link(direct.forwarder);
    if (link === undefined) return NO_ROUTE;
    this.#links.set(direct.forwarder, link);
    return link.open(new BlockRoute(zone, direct));
  }

  /** Closes all. */
  close(): void {
    for (const link of this.#links.values()) link.stop();
    this.#links.clear();
  }
}

/** Undefined: readers may not forward. */
export function directServersOf({
  zone,
  handlers,
  readsNodes,
}: Pick<RoutedZone, 'zone' | 'handlers' | 'readsNodes'>): DirectServers | undefined {
  const forwarder = handlers.find((handler) => handler.role === 'forwarder');
  const cache = handlers.find((handler) => handler.role === 'cache');
  const before = addressesAnsweredBefore(handlers, readsNodes);
  const kept = cache?.forwardedIn(zone);
  if (before === undefined || (cache !== undefined && kept === undefined)) return undefined;
  const direct = forwarder?.directFor?.(zone);
  return direct && { ...direct, exceptions: [...direct.exceptions, ...before, ...(kept?.exceptions ?? [])] };
}

class BlockRoute implements ForwardedRoute {
  readonly #direct: DirectServers;
  readonly #kept: KeptReplies | undefined;
  readonly #site: QuerySite;
  readonly #outcomes: RouteOutcomes;
  readonly #rotates: boolean;
  readonly #flags: FlagChange;
  readonly #minLabels: number;

  constructor({ server, zone, view, handlers, outcomes }: RoutedZone, direct: DirectServers) {
    this.#rotates = handlers.some(({ name }) => name === 'loadbalance');
    this.#flags = handlers.find(({ flags }) => flags !== undefined)?.flags ?? NO_FLAG_CHANGE;
    this.#minLabels = minLabelsForwarded(handlers);
    this.#direct = direct;
    this.#kept = handlers.find((handler) => handler.role === 'cache')?.forwardedIn(zone);
    this.#site = { server, zone, view, octets: 0 };
    const { success, denial } = CACHE_OUTCOMES;
    const outcomeOf = (kept: number) => outcomes.cached + kept * VIEW_PATHS;
    this.#outcomes = {
      ...{ forwarded: outcomes.forwarded, byPath: true },
      kept: { positive: success, negative: denial },
      repeated: { positive: outcomeOf(success), negative: outcomeOf(denial) },
    };
  }

  terms(): RouteTerms {
    const kept = this.#kept;
    return {
      exceptions: this.#direct.exceptions,
      minLabels: this.#minLabels,
      believesDenials: true,
      servesStaleAtOnce: kept?.servesStale === true,
      form: { kind: 'as-sent', caching: kept?.caching, rotates: this.#rotates, flags: this.#flags },
      cacheView: kept?.view,
      outcomes: this.#outcomes,
    };
  }

  /** Outcomes count these answers. */
  told(): void {}

  observe(reply: FillConsumer, upstream: Upstream | undefined): void {
    if (upstream !== undefined)
      this.#direct.countReply(upstream.text, reply.rcode, reply.microseconds / 1000, reply.clients);
  }

  keep(reply: FillConsumer, isEncoded: boolean): void {
    this.#kept?.keep(reply, this.#site, isEncoded);
  }
}
