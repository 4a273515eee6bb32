/**
 * A transport that counts the main thread's queries to a server, and its replies.
 */
import { toFullRcode } from '@portolan/dns/edns.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type {
  Exchange,
  ExchangeEvents,
  Transport,
  TransportProtocol,
} from '@portolan/kernel/forward/transport/transport.ts';
import type { ServerEvents } from './forward-metrics.ts';

export interface CountedOptions {
  /** In metrics: its address and port. */
  readonly server: string;
  readonly protocol: TransportProtocol;
  /** Milliseconds after which an idle connection counts as closed. */
  readonly expire: number;
  readonly counts: Pick<ServerEvents, 'asked' | 'replied'>;
  readonly clock: Clock;
}

export class CountedTransport implements Transport {
  readonly #transport: Transport;
  readonly #options: CountedOptions;
  #lastAsked = Number.NEGATIVE_INFINITY;

  constructor(transport: Transport, options: CountedOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  get direct(): Transport['direct'] {
    return this.#transport.direct;
  }

  get isReliable(): boolean {
    return this.#transport.isReliable === true;
  }

  get dropped(): Transport['dropped'] {
    return this.#transport.dropped;
  }

  ask(query: Parameters<Transport['ask']>[0], events: ExchangeEvents): Exchange {
    if (query.isProbe === true) return this.#transport.ask(query, events);
    const { server, protocol, expire, counts, clock } = this.#options;
    const askedAt = clock.monotonic();
    counts.asked(server, protocol, askedAt - this.#lastAsked > expire);
    this.#lastAsked = askedAt;
    return this.#transport.ask(query, {
      replied(reply, octets) {
        counts.replied(server, toFullRcode(reply), clock.monotonic() - askedAt);
        events.replied(reply, octets);
      },
      heard: () => events.heard(),
      failed: (code) => events.failed(code),
    });
  }

  close(): void {
    this.#transport.close();
  }
}
