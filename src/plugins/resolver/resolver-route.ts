/**
 * The route by which readers forward for the resolver: how they answer clients, and how replies enter its cache.
 */
import type { FillConsumer } from '../../forward/reader-path/fill-ring.ts';
import type { ForwardedRoute, RouteTerms } from '../../forward/reader-path/linked-forwarder.ts';
import { DEFAULT_VIEW } from '../../table/types.ts';
import type { NameKey } from '../../wire/types.ts';
import { RESOLVER_OUTCOME } from '../cache/outcomes.ts';
import type { OwnAnswers } from '../cache/own-answers.ts';
import type { Forwarding } from './forwarding.ts';

/** The parts of a resolver that its route uses. */
export interface ResolverParts {
  readonly forwarding: Forwarding;
  readonly cache: OwnAnswers;
  /** Whether the settings leave replies as they are. May change. */
  readonly isUsable: () => boolean;
}

export interface ResolverRouteOptions {
  /**
   * Names for which handlers before the resolver may answer questions for addresses, with all names below them. Undefined:
   * unknown, so readers must not forward.
   */
  readonly exceptions: () => readonly NameKey[] | undefined;
  /** Handlers before the resolver may answer names with fewer labels. */
  readonly minLabels: () => number;
  /** Whether denials from upstream are true: this is so if no names are known here. */
  readonly believesDenials: () => boolean;
  /** The outcome of answers. */
  readonly outcome: number;
  readonly trustsAd: () => boolean;
}

export class ResolverRoute implements ForwardedRoute {
  readonly #parts: ResolverParts;
  readonly #options: ResolverRouteOptions;

  constructor(parts: ResolverParts, options: ResolverRouteOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  terms(): RouteTerms | undefined {
    const { exceptions, minLabels, believesDenials, outcome } = this.#options;
    const { cache } = this.#parts;
    const concerned = this.#parts.isUsable() ? exceptions() : undefined;
    if (concerned === undefined) return undefined;
    const { answered } = RESOLVER_OUTCOME;
    return {
      exceptions: concerned,
      minLabels: minLabels(),
      believesDenials: believesDenials(),
      servesStaleAtOnce: cache.servesStaleAtOnce,
      form: { kind: 'own', caching: cache.rules.caching },
      cacheView: DEFAULT_VIEW,
      outcomes: {
        ...{ forwarded: outcome, byPath: false },
        kept: { positive: answered, negative: answered },
        repeated: { positive: answered, negative: answered },
      },
    };
  }

  told(clients: number): void {
    this.#parts.cache.noteMisses(clients);
  }

  observe({ clients, microseconds }: FillConsumer): void {
    for (let client = 0; client < clients; client += 1) this.#parts.forwarding.observe(microseconds / 1000);
  }

  keep(fill: FillConsumer, isEncoded: boolean): void {
    if (this.#parts.isUsable()) this.#parts.cache.keepReply(fill, isEncoded, this.#options.trustsAd());
  }
}
