/**
 * The route by which readers forward for the resolver: how they answer clients, and how replies enter its cache.
 */
import { questionOfFill } from '../../forward/reader-path/fill-question.ts';
import type { FillConsumer } from '../../forward/reader-path/fill-ring.ts';
import type { ForwardedRoute, RouteTerms } from '../../forward/reader-path/linked-forwarder.ts';
import { RawReply } from '../../forward/transport/raw-reply.ts';
import { DEFAULT_VIEW } from '../../table/types.ts';
import { MAX_UDP_SIZE } from '../../wire/response-size.ts';
import type { NameKey } from '../../wire/types.ts';
import { RESOLVER_OUTCOME } from './outcomes.ts';
import type { ResolverParts } from './packet-path.ts';
import { RawResponses, type WaitingQuery } from './raw-replies.ts';

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
  /** Whether an expired answer is served before a new one has come. */
  readonly servesStaleAtOnce: () => boolean;
  /** The outcome of answers. */
  readonly outcome: number;
  readonly trustsAd: () => boolean;
}

export class ResolverRoute implements ForwardedRoute {
  readonly #parts: ResolverParts;
  readonly #options: ResolverRouteOptions;
  readonly #raw = new RawReply();
  readonly #responses: RawResponses;

  constructor(parts: ResolverParts, options: ResolverRouteOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#responses = new RawResponses(parts.table, parts.clock, MAX_UDP_SIZE);
  }

  terms(): RouteTerms | undefined {
    const { exceptions, minLabels, believesDenials, servesStaleAtOnce, outcome } = this.#options;
    const concerned = this.#parts.isUsable() ? exceptions() : undefined;
    if (concerned === undefined) return undefined;
    const { answered } = RESOLVER_OUTCOME;
    return {
      exceptions: concerned,
      minLabels: minLabels(),
      believesDenials: believesDenials(),
      servesStaleAtOnce: servesStaleAtOnce(),
      form: { kind: 'own', caching: this.#parts.forwarding.settings.caching },
      cacheView: DEFAULT_VIEW,
      outcomes: {
        ...{ forwarded: outcome, byPath: false },
        kept: { positive: answered, negative: answered },
        repeated: { positive: answered, negative: answered },
      },
    };
  }

  told(clients: number): void {
    this.#parts.cachingResolver.noteMisses(clients);
  }

  observe({ clients, microseconds }: FillConsumer): void {
    for (let client = 0; client < clients; client += 1) this.#parts.forwarding.observe(microseconds / 1000);
  }

  /** Stores the entry, or makes it here; drops an older one if the reply must not be cached. */
  keep(fill: FillConsumer, isEncoded: boolean): void {
    const { isUsable, table } = this.#parts;
    if (!isUsable()) return;
    if (!isEncoded || table.cacheEncoded(fill.words, fill.entryWord, fill.entryLength) === 0)
      this.#cache(fill);
  }

  #cache(fill: FillConsumer): void {
    const { octets, start, length, questionEnd } = fill;
    const { forwarding } = this.#parts;
    const question = questionOfFill(fill);
    if (!this.#raw.read(octets, start, length, questionEnd, question.type, question.class)) return;
    this.#raw.authenticData &&= this.#options.trustsAd();
    const query: WaitingQuery = {
      octets,
      start,
      questionEnd,
      question,
      hasOpt: false,
      udpSize: MAX_UDP_SIZE,
    };
    this.#responses.replace(query, this.#raw, forwarding.settings.caching);
  }
}
