/**
 * TCP to a server, and UDP while TCP fails: a firewall blocks it, or the server is short of connections.
 *
 * A query without an answer over TCP in half a second is also sent over UDP, and the first reply counts. Once UDP has
 * answered a query that TCP has not in 1.5 seconds, queries use UDP. Every few seconds one of them is also sent over
 * TCP; a reply to it brings TCP back.
 */
import type { Message } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { QueryMessage } from './query-message.ts';
import { continueBy } from './taken-over-exchange.ts';
import type {
  DirectServer,
  DroppedPackets,
  Exchange,
  ExchangeEvents,
  Transport,
  TransportProtocol,
} from './transport.ts';

/** Milliseconds for TCP, including connecting, before UDP is used too. */
const TCP_HEAD_START = 500;
/** Milliseconds to wait for a reply over TCP; a truncated answer over UDP is held until then. */
const TCP_TIMEOUT = 1500;
/** Milliseconds between two attempts over TCP while queries use UDP. */
const TRY_INTERVAL = 5000;

export interface TcpFirstOptions {
  readonly tcp: Transport;
  readonly udp: Transport;
  readonly clock: Clock;
  /** Called when queries switch to the other protocol. */
  readonly onSwitch: (protocol: TransportProtocol) => void;
}

export class TcpFirstTransport implements Transport {
  readonly isReliable = true;
  readonly #options: TcpFirstOptions;
  #usesTcp = true;
  #triedAt = Number.NEGATIVE_INFINITY;

  constructor(options: TcpFirstOptions) {
    this.#options = options;
  }

  /** Other threads only use TCP here, so they may ask while it works. */
  get direct(): DirectServer | undefined {
    const { direct } = this.#options.tcp;
    return this.#usesTcp && direct !== undefined ? { ...direct, takeOver: continueBy(this) } : undefined;
  }

  get dropped(): DroppedPackets {
    const { tcp, udp } = this.#options;
    return {
      strange: udp.dropped.strange + tcp.dropped.strange,
      otherQuestion: udp.dropped.otherQuestion + tcp.dropped.otherQuestion,
      otherCase: udp.dropped.otherCase + tcp.dropped.otherCase,
    };
  }

  /** Whether queries use TCP now. */
  get usesTcp(): boolean {
    return this.#usesTcp;
  }

  ask(query: QueryMessage, events: ExchangeEvents): Exchange {
    const exchange = new TcpFirstExchange(this, this.#options, query, events);
    exchange.start();
    return exchange;
  }

  close(): void {
    this.#options.tcp.close();
    this.#options.udp.close();
  }

  /** Whether a query over UDP should also try TCP: one every few seconds. @internal */
  takeTry(): boolean {
    const now = this.#options.clock.monotonic();
    if (now - this.#triedAt < TRY_INTERVAL) return false;
    this.#triedAt = now;
    return true;
  }

  /** @internal */
  use(protocol: TransportProtocol): void {
    const usesTcp = protocol === 'tcp';
    if (usesTcp === this.#usesTcp) return;
    this.#usesTcp = usesTcp;
    this.#triedAt = this.#options.clock.monotonic();
    this.#options.onSwitch(protocol);
  }
}

class TcpFirstExchange implements Exchange {
  readonly #transport: TcpFirstTransport;
  readonly #options: TcpFirstOptions;
  readonly #query: QueryMessage;
  readonly #events: ExchangeEvents;
  /** Undefined: TCP is not used. */
  #tcp: 'waiting' | 'done' | undefined;
  #udp: 'waiting' | 'done' | undefined;
  #byTcp: Exchange | undefined;
  #byUdp: Exchange | undefined;
  #headStart: Timer | undefined;
  #tcpTimeout: Timer | undefined;
  /** The answer over UDP, held while TCP may bring a complete one. */
  #truncated: Message | undefined;
  #isAnsweredByUdp = false;
  #isTold = false;

  constructor(
    transport: TcpFirstTransport,
    options: TcpFirstOptions,
    query: QueryMessage,
    events: ExchangeEvents,
  ) {
    this.#transport = transport;
    this.#options = options;
    this.#query = query;
    this.#events = events;
  }

  start(): void {
    if (this.#transport.usesTcp) {
      this.#headStart = this.#options.clock.after(TCP_HEAD_START, () => this.#askUdp());
      this.#askTcp();
      return;
    }
    // TCP first, so that a truncated answer over UDP waits for TCP.
    if (this.#transport.takeTry()) this.#askTcp();
    this.#askUdp();
  }

  overdue(): void {
    this.#byTcp?.overdue();
    this.#byUdp?.overdue();
  }

  cancel(): void {
    this.#isTold = true;
    this.#headStart?.cancel();
    this.#tcpTimeout?.cancel();
    this.#byTcp?.cancel();
    this.#byUdp?.cancel();
  }

  #askTcp(): void {
    if (this.#tcp !== undefined) return;
    this.#tcp = 'waiting';
    this.#tcpTimeout = this.#options.clock.after(TCP_TIMEOUT, () => this.#giveUpTcp());
    this.#byTcp = this.#options.tcp.ask(this.#query, {
      replied: (reply, octets) => {
        this.#tcp = 'done';
        this.#tcpTimeout?.cancel();
        this.#transport.use('tcp');
        this.#tell(reply, octets);
      },
      heard: () => this.#heard(),
      failed: (code) => this.#tcpFailed(code),
    });
  }

  #askUdp(): void {
    this.#headStart?.cancel();
    if (this.#udp !== undefined || this.#isTold) return;
    this.#udp = 'waiting';
    this.#byUdp = this.#options.udp.ask(this.#query, {
      replied: (reply, octets) => {
        this.#udp = 'done';
        this.#repliedByUdp(reply, octets);
      },
      heard: () => this.#heard(),
      failed: (code) => {
        this.#udp = 'done';
        this.#failed(code);
      },
    });
  }

  #repliedByUdp(reply: Message, octets: number | undefined): void {
    if (this.#isTold) return;
    this.#isAnsweredByUdp = true;
    if (this.#tcp === 'done') this.#transport.use('udp');
    if (reply.header.truncated && (this.#tcp === 'waiting' || this.#mayTryTcp())) {
      this.#truncated = reply;
      this.#askTcp();
    } else this.#tell(reply, octets);
  }

  #mayTryTcp(): boolean {
    return this.#tcp === undefined && this.#transport.takeTry();
  }

  #giveUpTcp(): void {
    this.#byTcp?.overdue();
    this.#byTcp?.cancel();
    this.#tcpFailed('timeout');
  }

  #tcpFailed(code: string): void {
    this.#tcp = 'done';
    this.#tcpTimeout?.cancel();
    if (this.#isAnsweredByUdp) this.#transport.use('udp');
    this.#failed(code);
  }

  #failed(code: string): void {
    if (this.#isTold) return;
    if (this.#truncated !== undefined) this.#tell(this.#truncated, undefined);
    else if (this.#udp === undefined) this.#askUdp();
    else if (this.#tcp === undefined) this.#askTcp();
    else if (this.#udp === 'done' && this.#tcp === 'done') {
      this.#end();
      this.#events.failed(code);
    }
  }

  #heard(): void {
    if (!this.#isTold) this.#events.heard();
  }

  #tell(reply: Message, octets: number | undefined): void {
    if (this.#isTold) return;
    this.#end();
    this.#events.replied(reply, octets);
  }

  /** A later reply over UDP is useless, but one over TCP shows whether TCP works. */
  #end(): void {
    this.#isTold = true;
    this.#headStart?.cancel();
    if (this.#udp === 'waiting') this.#byUdp?.cancel();
  }
}
