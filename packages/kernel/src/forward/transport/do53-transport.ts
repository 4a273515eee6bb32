/**
 * UDP, and TCP to the same server for a truncated reply (RFC 1035 section 4.2.1, RFC 7766 section 5).
 *
 * If TCP is blocked, for example by a firewall that drops its packets, the truncated reply is returned after a second.
 * The client can use it, or ask over TCP itself.
 *
 * TCP also takes over queries whose UDP socket a forger has found, since an off-path forger cannot answer there.
 */
import type { Message } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { QueryMessage } from './query-message.ts';
import type { DirectServer, DroppedPackets, Exchange, ExchangeEvents, Transport } from './transport.ts';
import { FORGERY_SUSPECTED } from './udp-transport.ts';

/** Milliseconds from a truncated reply to the complete one over TCP, including connecting. */
const TCP_TIMEOUT = 1000;

export class Do53Transport implements Transport {
  readonly direct: DirectServer | undefined;
  readonly #udp: Transport;
  readonly #tcp: Transport;
  readonly #clock: Clock;

  constructor(udp: Transport, tcp: Transport, clock: Clock) {
    this.direct = udp.direct && {
      ...udp.direct,
      takeOver: (query, events) => new PlainExchange(this, query, events),
    };
    this.#udp = udp;
    this.#tcp = tcp;
    this.#clock = clock;
  }

  get dropped(): DroppedPackets {
    const udp = this.#udp.dropped;
    const tcp = this.#tcp.dropped;
    return {
      strange: udp.strange + tcp.strange,
      otherQuestion: udp.otherQuestion + tcp.otherQuestion,
      otherCase: udp.otherCase + tcp.otherCase,
    };
  }

  ask(query: QueryMessage, events: ExchangeEvents): Exchange {
    const exchange = new PlainExchange(this, query, events);
    exchange.start();
    return exchange;
  }

  /** @internal for `PlainExchange` */
  askByUdp(query: QueryMessage, events: ExchangeEvents): Exchange {
    return this.#udp.ask(query, events);
  }

  /** @internal for `PlainExchange` */
  askByTcp(query: QueryMessage, events: ExchangeEvents): Exchange {
    return this.#tcp.ask(query, events);
  }

  /** @internal for `PlainExchange` */
  afterTcpTimeout(run: () => void): Timer {
    return this.#clock.after(TCP_TIMEOUT, run);
  }

  close(): void {
    this.#udp.close();
    this.#tcp.close();
  }
}

class PlainExchange implements Exchange, ExchangeEvents {
  #byUdp: Exchange | undefined;
  readonly #transport: Do53Transport;
  readonly #query: QueryMessage;
  readonly #events: ExchangeEvents;
  #byTcp: Exchange | undefined;
  #timer: Timer | undefined;
  #isDone = false;

  constructor(transport: Do53Transport, query: QueryMessage, events: ExchangeEvents) {
    this.#transport = transport;
    this.#query = query;
    this.#events = events;
  }

  start(): void {
    const { passedOnBy } = this.#query;
    if (passedOnBy === 'only-tcp') this.#byTcp = this.#transport.askByTcp(this.#query, this.#events);
    else if (passedOnBy === 'tcp') this.#askByTcp(() => this.#askByUdp());
    else this.#askByUdp();
  }

  replied(received: Message, octets = 0): void {
    const { passedOnBy, maxUdpReply } = this.#query;
    const isTooLarge = maxUdpReply !== undefined && octets > maxUdpReply;
    const reply = isTooLarge ? withoutRecords(received) : received;
    if (!reply.header.truncated || passedOnBy !== undefined) this.#events.replied(reply);
    else if (!this.#isDone) {
      this.#events.heard();
      this.#askByTcp(() => this.#events.replied(reply));
    }
  }

  heard(): void {}

  failed(code: string): void {
    if (code === FORGERY_SUSPECTED && !this.#isDone && this.#byTcp === undefined)
      this.#askByTcp((reason) => this.#events.failed(reason));
    else this.#events.failed(code);
  }

  overdue(): void {
    (this.#byTcp ?? this.#byUdp)?.overdue();
  }

  cancel(): void {
    this.#isDone = true;
    this.#timer?.cancel();
    this.#byUdp?.cancel();
    this.#byTcp?.cancel();
  }

  #askByUdp(): void {
    this.#byUdp = this.#transport.askByUdp(this.#query, this);
  }

  /** @param instead what happens if TCP fails */
  #askByTcp(instead: (code: string) => void): void {
    let isOver = false;
    const end = (): boolean => {
      const isFirst = !isOver && !this.#isDone;
      isOver = true;
      this.#timer?.cancel();
      return isFirst;
    };
    const giveUp = (code: string) => {
      if (!end()) return;
      this.#byTcp?.cancel();
      instead(code);
    };
    this.#timer = this.#transport.afterTcpTimeout(() => giveUp(FORGERY_SUSPECTED));
    this.#byTcp = this.#transport.askByTcp(this.#query, {
      replied: (reply) => {
        if (end()) this.#events.replied(reply);
      },
      heard() {},
      failed: giveUp,
    });
  }
}

/** The reply without its records (OPT included), with TC. */
function withoutRecords({ header, questions }: Message): Message {
  const truncated = { ...header, truncated: true };
  const empty = { answers: [], authorities: [], additionals: [], edns: undefined };
  return { header: truncated, questions, ...empty };
}
