/**
 * Sends each query and each response to collectors of dnstap.
 */
import { hostname } from 'node:os';
import { encodeMessage } from '@portolan/dns/message.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { describeResponse } from '@portolan/kernel/chain/described-response.ts';
import type { Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { ALL_QUESTIONS, eachTime } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { Transport } from '@portolan/kernel/forward/transport/transport.ts';
import { type AddQueryText, compileLogFormat, describeQuery, formatQuery } from '../log/log-format.ts';
import type { DnstapOptions, TapOptions } from './options.ts';
import { TapConnection } from './tap-connection.ts';
import { shareTapListener, TapListenError } from './tap-listener.ts';
import { encodeFrame, TAP_TYPE, type TapMessage, type TapSocket } from './tap-message.ts';
import { type ForwardTap, TappedTransport } from './tapped-transport.ts';

export interface DnstapDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

/** The version of CoreDNS that this server replaces. */
const VERSION = 'CoreDNS-1.14.7';

export class Dnstap {
  readonly handler: Handler;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #taps: readonly Tap[];
  /** Whether a tap wants DNS messages. */
  readonly #isFull: boolean;

  constructor({ taps }: DnstapOptions, dependencies: DnstapDependencies) {
    this.#clock = dependencies.clock;
    this.#log = dependencies.log;
    this.#taps = taps.map((options) => new Tap(options, dependencies));
    this.#isFull = taps.some(({ isFull }) => isFull);
    this.handler = {
      name: 'dnstap',
      role: 'other',
      // Readers send no messages.
      questions: eachTime(ALL_QUESTIONS),
      answers: 'unchanged',
      handle: (query, next) => this.#handle(query, next),
    };
  }

  /** A socket for collectors that cannot be opened is logged, as in CoreDNS: clients get their answers. */
  async start(): Promise<void> {
    for (const { way } of this.#taps)
      try {
        await way.start();
      } catch (error) {
        if (!(error instanceof TapListenError)) throw error;
        this.#log.error(`plugin/dnstap: Failed to start dnstap listener: ${error.message}`);
      }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#taps.map(({ way }) => way.stop()));
  }

  /** Shows what goes to an upstream server and comes from it. */
  tapServer(transport: Transport, server: TapSocket, protocol: 'udp' | 'tcp'): Transport {
    const common = { transport: protocol, answerer: { address: server.address, port: server.port } };
    const tap: ForwardTap = {
      sent: ({ octets }) =>
        this.#send({
          ...common,
          type: TAP_TYPE.FORWARDER_QUERY,
          asked: this.#clock.now(),
          query: this.#isFull ? octets : undefined,
        }),
      received: (reply, asked) =>
        this.#send({
          ...common,
          type: TAP_TYPE.FORWARDER_RESPONSE,
          asked,
          answered: this.#clock.now(),
          response: this.#isFull ? encodeMessage(reply, {}) : undefined,
        }),
    };
    return new TappedTransport(transport, tap, () => this.#clock.now());
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    query.forbidStoring();
    const { address, port, transport } = query.sender;
    const common: Pick<TapMessage, 'transport' | 'asker' | 'asked'> = {
      transport: transport === 'udp' ? 'udp' : 'tcp',
      asker: { address, port },
      asked: this.#clock.now(),
    };
    this.#send({ ...common, type: TAP_TYPE.CLIENT_QUERY, query: this.#octetsOfQuery(query) }, query);
    const answer = await next(query);
    const response = describeResponse(query, answer);
    if (response === undefined) return answer;
    const octets = this.#isFull ? encodeMessage(response.message, {}) : undefined;
    const answered = this.#clock.now();
    this.#send({ ...common, type: TAP_TYPE.CLIENT_RESPONSE, answered, response: octets }, query);
    return answer;
  }

  #octetsOfQuery({ header, question, edns }: Query): Uint8Array | undefined {
    if (!this.#isFull) return undefined;
    const sections = { answers: [], authorities: [], additionals: [] };
    return encodeMessage({ header, questions: [question], ...sections, edns }, {});
  }

  /** @param query that the message is about; undefined: it may be about several */
  #send(message: TapMessage, query?: Query): void {
    for (const tap of this.#taps) tap.send(message, query);
  }
}

/** How messages reach collectors. */
interface TapWay {
  start(): void | Promise<void>;
  send(message: Uint8Array): void;
  stop(): Promise<void>;
}

function openWay(options: TapOptions, dependencies: DnstapDependencies): TapWay {
  if (options.listens === undefined) return new TapConnection(options, dependencies);
  const { endpoint, listens, maxOctets } = options;
  const shared = shareTapListener({ endpoint, listens, maxOctets }, dependencies);
  return {
    start: () => shared.value.start(),
    send: (message) => shared.value.send(message),
    stop: () => shared.release(),
  };
}

class Tap {
  readonly way: TapWay;
  readonly #options: TapOptions;
  readonly #identity: string;
  readonly #extra: AddQueryText | undefined;

  constructor(options: TapOptions, dependencies: DnstapDependencies) {
    this.#options = options;
    this.#identity = options.identity ?? hostname();
    this.#extra = options.extra === undefined ? undefined : compileLogFormat(options.extra);
    this.way = openWay(options, dependencies);
  }

  send({ query, response, ...message }: TapMessage, about: Query | undefined): void {
    const { isFull, version = VERSION } = this.#options;
    const extra = about && this.#extra && formatQuery(this.#extra, describeQuery(about, undefined, 0));
    const whole = isFull ? { ...message, query, response } : message;
    this.way.send(encodeFrame({ identity: this.#identity, version, extra, message: whole }));
  }
}
