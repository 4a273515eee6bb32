/**
 * UDP, and TCP to the same server for a reply that UDP could not carry (RFC 1035 section 4.2.1, RFC 7766 section 5).
 */
import type { Message } from '../../wire/types.ts';
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
    let isCancelled = false;
    let later: Exchange | undefined;
    const first = this.#udp.ask(query, {
      replied: (message) => {
        if (!message.header.truncated) events.replied(message);
        else if (!isCancelled) later = this.#askAgain(query, message, events);
      },
      failed: (code) => events.failed(code),
    });
    return {
      overdue: () => (later ?? first).overdue(),
      cancel: () => {
        isCancelled = true;
        first.cancel();
        later?.cancel();
      },
    };
  }

  /** Where TCP does not get through, what UDP brought is better than nothing. */
  #askAgain(query: QueryMessage, truncated: Message, events: ExchangeEvents): Exchange {
    this.truncated += 1;
    return this.#tcp.ask(query, {
      replied: (message) => events.replied(message),
      failed: () => events.replied(truncated),
    });
  }

  close(): void {
    this.#udp.close();
    this.#tcp.close();
  }
}
