/**
 * UDP, and TCP to the same server for a reply that UDP could not carry (RFC 1035 section 4.2.1, RFC 7766 section 5).
 */
import type { Message } from '../../wire/types.ts';
import { PlainReply } from './plain-reply.ts';
import type { QueryMessage } from './query-message.ts';
import type { DroppedPackets, Exchange, ExchangeEvents, Transport } from './transport.ts';

export class PlainTransport implements Transport {
  readonly #udp: Transport;
  readonly #tcp: Transport;
  /** Replies that came again over TCP. */
  truncated = 0;

  constructor(udp: Transport, tcp: Transport) {
    this.#udp = udp;
    this.#tcp = tcp;
  }

  get dropped(): DroppedPackets {
    const [udp, tcp] = [this.#udp.dropped, this.#tcp.dropped];
    return { strange: udp.strange + tcp.strange, otherQuestion: udp.otherQuestion + tcp.otherQuestion };
  }

  ask(query: QueryMessage, events: ExchangeEvents): Exchange {
    const exchange = new PlainExchange(this, query, events);
    exchange.first = this.#udp.ask(query, exchange);
    return exchange;
  }

  /** @internal for `PlainExchange` */
  askAgain(query: QueryMessage, events: ExchangeEvents): Exchange {
    this.truncated += 1;
    return this.#tcp.ask(query, events);
  }

  close(): void {
    this.#udp.close();
    this.#tcp.close();
  }
}

class PlainExchange implements Exchange, ExchangeEvents {
  first: Exchange | undefined;
  readonly #transport: PlainTransport;
  readonly #query: QueryMessage;
  readonly #events: ExchangeEvents;
  #later: Exchange | undefined;
  #isCancelled = false;

  constructor(transport: PlainTransport, query: QueryMessage, events: ExchangeEvents) {
    this.#transport = transport;
    this.#query = query;
    this.#events = events;
  }

  replied(message: Message): void {
    if (message instanceof PlainReply || !message.header.truncated) this.#events.replied(message);
    else if (!this.#isCancelled) this.#askAgain(message);
  }

  failed(code: string): void {
    this.#events.failed(code);
  }

  overdue(): void {
    (this.#later ?? this.first)?.overdue();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.first?.cancel();
    this.#later?.cancel();
  }

  /** Where TCP does not get through, what UDP brought is better than nothing. */
  #askAgain(truncated: Message): void {
    const events = this.#events;
    this.#later = this.#transport.askAgain(this.#query, {
      replied: (message) => events.replied(message),
      failed: () => events.replied(truncated),
    });
  }
}
