/**
 * Answers one message at a time on the main thread: from the table, else by `HandleQuery`. All listeners without batches share it.
 */
import { MAX_MESSAGE_OCTETS } from '@portolan/dns/response-size.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Client, HandleQuery } from '../chain/query.ts';
import { encodeSocketAddress, SOCKADDR_IN6_OCTETS } from '../socket/addresses.ts';
import {
  ClientRuleChecker,
  carryOut,
  DECISION,
  type SharedClientRules,
  truncateResponse,
} from './client-rules.ts';
import { Faults, failQuery } from './faults.ts';
import type { QueryEventRings } from './query-events/event-rings.ts';
import type { MainThreadEvents } from './query-events/main-events.ts';
import { DEFAULT_QUERY_TIMEOUTS, type QueryTimeouts } from './query-timeouts.ts';
import type { InstantAnswers } from './types.ts';

/** A response now, no response, or a response later. */
export type MessageAnswer =
  | { readonly kind: 'response'; readonly response: Uint8Array }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'later'; readonly response: Promise<Uint8Array | undefined> };

const NOTHING: MessageAnswer = { kind: 'nothing' };

export interface MessageAnswersDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** The UDP size in our OPT records, in octets. */
  readonly udpSize: number;
  /** Where to write the events of answered queries; undefined: nowhere. */
  readonly events?: QueryEventRings | undefined;
  /** Where to write those of answers from the table. Default: as all others. */
  readonly tableEvents?: QueryEventRings | undefined;
  /** Default: `DEFAULT_QUERY_TIMEOUTS`. */
  readonly timeouts?: Pick<QueryTimeouts, 'queue'> | undefined;
  /** What clients may do; undefined: everything. Read for each query, since it may change. */
  readonly clientRules?: SharedClientRules | undefined;
}

export class MessageAnswers {
  readonly faults: Faults;
  /** Queries that came too late to the chain: they got SERVFAIL in place of its answer. */
  expired = 0;
  /** Queries of clients that may not ask, and queries and responses beyond a rate. */
  denied = 0;
  limited = 0;
  readonly #instant: InstantAnswers;
  readonly #slowly: HandleQuery;
  readonly #clock: Clock;
  readonly #udpSize: number;
  readonly #events: MainThreadEvents | undefined;
  readonly #tableEvents: MainThreadEvents | undefined;
  readonly #queueTimeout: number;
  readonly #dependencies: Pick<MessageAnswersDependencies, 'clientRules'>;
  #rules: { readonly shared: SharedClientRules; readonly checker: ClientRuleChecker } | undefined;
  /** The message, followed by the client's socket address. */
  readonly #scratch = new Uint8Array(MAX_MESSAGE_OCTETS + SOCKADDR_IN6_OCTETS);
  /** The client whose address `#scratch` holds now. */
  #last: Client | undefined;
  /** The addresses of open connections, which ask in any order. */
  readonly #addresses = new WeakMap<Client, Uint8Array>();

  constructor(instant: InstantAnswers, slowly: HandleQuery, dependencies: MessageAnswersDependencies) {
    this.#instant = instant;
    this.#slowly = slowly;
    this.#clock = dependencies.clock;
    this.#udpSize = dependencies.udpSize;
    this.#events = dependencies.events?.main;
    this.#tableEvents = (dependencies.tableEvents ?? dependencies.events)?.main;
    this.#queueTimeout = (dependencies.timeouts ?? DEFAULT_QUERY_TIMEOUTS).queue;
    this.#dependencies = dependencies;
    this.faults = new Faults(dependencies.log);
  }

  /**
   * @param query at most 65,535 octets, copied before this returns; responses have memory of their own
   * @param arrived when it came, by the monotonic clock; undefined: just now
   */
  answer(query: Uint8Array, client: Client, arrived?: number): MessageAnswer {
    const received = this.#tableEvents?.now() ?? 0;
    this.#scratch.set(query);
    const decision = this.#judge(client, query.length);
    if (decision !== DECISION.PASS) return this.#deny(decision, query.length);
    const verdict = this.#answerInstantly(query.length, client);
    if (verdict === 0) return NOTHING;
    if (verdict < 0 && this.#isLate(arrived)) return this.#giveUp(query);
    if (verdict < 0)
      return { kind: 'later', response: this.#answerLater(Uint8Array.from(query), client, received) };
    const length = this.#limit(this.#scratch, verdict, client);
    if (length === 0) return NOTHING;
    const response = this.#scratch.slice(0, length);
    if (this.#tableEvents?.wants(response, length, received) === true)
      this.#tableEvents.add(query, response, client, {
        received,
        source: 'table',
        transport: client.transport,
      });
    return { kind: 'response', response };
  }

  #isLate(arrived: number | undefined): boolean {
    return arrived !== undefined && this.#clock.monotonic() >= arrived + this.#queueTimeout;
  }

  /** A stream answers each query, but work for a client that does not wait any more would make others late too. */
  #giveUp(query: Uint8Array): MessageAnswer {
    this.expired++;
    this.#scratch.set(query);
    const length = failQuery(this.#scratch, 0, query.length, this.#udpSize);
    return length === 0 ? NOTHING : { kind: 'response', response: this.#scratch.slice(0, length) };
  }

  #checker(): ClientRuleChecker | undefined {
    const shared = this.#dependencies.clientRules;
    if (shared !== this.#rules?.shared)
      this.#rules = shared && { shared, checker: new ClientRuleChecker(shared) };
    return this.#rules?.checker;
  }

  /** Judges the query in `#scratch`. */
  #judge(client: Client, length: number): number {
    const checker = this.#checker();
    if (checker === undefined) return DECISION.PASS;
    const address = this.#toSocketAddress(client);
    const access = checker.judgeAccess(address, 0);
    if (access !== DECISION.PASS) {
      this.denied++;
      return access;
    }
    checker.setTime();
    const isStream = client.transport !== 'udp';
    const asked = checker.judgeQuery(address, 0, this.#scratch, 0, length, isStream);
    if (asked !== DECISION.PASS) this.limited++;
    return asked;
  }

  /** Bounds responses over UDP. @returns the octets of the response to send, 0 for none */
  #limit(response: Uint8Array, length: number, client: Client): number {
    const checker = client.transport === 'udp' ? this.#checker() : undefined;
    if (checker === undefined) return length;
    checker.setTime();
    const decision = checker.judgeResponse(this.#toSocketAddress(client), 0, response, 0, length);
    if (decision === DECISION.PASS) return length;
    this.limited++;
    return decision === DECISION.DROP ? 0 : truncateResponse(response, 0, length, this.#udpSize);
  }

  #deny(decision: number, length: number): MessageAnswer {
    const denied = carryOut(decision, this.#scratch, 0, length, this.#udpSize);
    return denied === 0 ? NOTHING : { kind: 'response', response: this.#scratch.slice(0, denied) };
  }

  #answerInstantly(length: number, client: Client): number {
    const { transport, group = 0 } = client;
    const came = this.#clock.monotonic();
    this.#instant.enter();
    try {
      this.#instant.setTime(came);
      this.#writeClient(client);
      return this.#instant.answer(
        this.#scratch,
        0,
        length,
        MAX_MESSAGE_OCTETS,
        transport,
        group,
        MAX_MESSAGE_OCTETS,
      );
    } catch (error) {
      this.faults.note(error);
      return failQuery(this.#scratch, 0, length, this.#udpSize);
    } finally {
      this.#instant.leave(this.#clock.monotonic() - came);
    }
  }

  /** Many queries in a row come from the same client. */
  #writeClient(client: Client): void {
    if (client === this.#last) return;
    this.#scratch.set(this.#toSocketAddress(client), MAX_MESSAGE_OCTETS);
    this.#last = client;
  }

  #toSocketAddress(client: Client): Uint8Array {
    const known = this.#addresses.get(client);
    if (known !== undefined) return known;
    const [address = ''] = client.address.split('%');
    const encoded = encodeSocketAddress({ address, port: client.port });
    this.#addresses.set(client, encoded);
    return encoded;
  }

  async #answerLater(query: Uint8Array, client: Client, received: number): Promise<Uint8Array | undefined> {
    const whole = await this.#answerByChain(query, client);
    const length = whole === undefined ? 0 : this.#limit(whole, whole.length, client);
    if (whole === undefined || length === 0) return undefined;
    const response = whole.subarray(0, length);
    if (this.#events?.wants(response, length, received) === true)
      this.#events.add(query, response, client, { received, source: 'chain', transport: client.transport });
    return response;
  }

  async #answerByChain(query: Uint8Array, client: Client): Promise<Uint8Array | undefined> {
    try {
      return await this.#slowly(query, client);
    } catch (error) {
      this.faults.note(error);
      return query.subarray(0, failQuery(query, 0, query.length, this.#udpSize));
    }
  }
}
