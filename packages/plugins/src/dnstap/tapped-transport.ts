/**
 * A transport to an upstream server that shows its queries and replies. Readers cannot go around it, so it has no `direct`.
 */
import type { Message } from '@portolan/dns/types.ts';
import type { QueryMessage } from '@portolan/kernel/forward/transport/query-message.ts';
import type {
  DroppedPackets,
  Exchange,
  ExchangeEvents,
  Transport,
} from '@portolan/kernel/forward/transport/transport.ts';

/** Gets the queries to a server, and its replies. */
export interface ForwardTap {
  sent(query: QueryMessage): void;
  /** @param reply lent until this returns @param asked milliseconds since the Unix epoch */
  received(reply: Message, asked: number): void;
}

export class TappedTransport implements Transport {
  readonly direct = undefined;
  readonly #transport: Transport;
  readonly #tap: ForwardTap;
  readonly #now: () => number;

  /** @param now milliseconds since the Unix epoch */
  constructor(transport: Transport, tap: ForwardTap, now: () => number) {
    this.#transport = transport;
    this.#tap = tap;
    this.#now = now;
  }

  get isReliable(): boolean {
    return this.#transport.isReliable === true;
  }

  get dropped(): Readonly<DroppedPackets> {
    return this.#transport.dropped;
  }

  ask(query: QueryMessage, events: ExchangeEvents): Exchange {
    const asked = this.#now();
    this.#tap.sent(query);
    return this.#transport.ask(query, {
      replied: (reply, octets) => {
        this.#tap.received(reply, asked);
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
