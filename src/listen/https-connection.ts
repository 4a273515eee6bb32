/**
 * One client's connection of DNS over HTTPS (RFC 8484): each request is a query, answered as one over TCP.
 *
 * Octets of its requests and of unread responses are accounted for. Times are limited as on other connections.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import type { Client } from '../chain/query.ts';
import { MAX_MESSAGE_OCTETS } from '../wire/response-size.ts';
import { type ConnectionActivity, ConnectionTimes } from './connection-times.ts';
import { isQuery, readRequest } from './https/dns-request.ts';
import { freshnessOf } from './https/freshness.ts';
import {
  type Http1Parser,
  type HttpExchange,
  type HttpExchanges,
  serveHttp2,
} from './https/http-exchanges.ts';
import { mainTurns, type Work } from './main-turns.ts';
import type { MessageAnswers } from './message-answers.ts';
import {
  type ConnectionEvents,
  type ConnectionLimits,
  type EndReason,
  SERVED_MILLISECONDS,
  type ServedConnection,
} from './served-connection.ts';

export interface HttpService {
  readonly http1: Http1Parser;
  /** Counts a response. @param status of HTTP */
  onResponse(status: number): void;
}

const DNS_MESSAGE = 'application/dns-message';
/** In CoreDNS's words; a client shows them to nobody. */
const FAULTS: Readonly<Record<number, string>> = {
  400: 'invalid request\n',
  404: '\n',
  500: 'No response\n',
  503: 'too many requests\n',
};

/** A query, and the exchange that asks it. */
interface WaitingExchange {
  readonly exchange: HttpExchange;
  readonly message: Uint8Array;
}

export class HttpsConnection implements ServedConnection, Work {
  queries = 0;
  heldOctets = 0;
  readonly #socket: Socket;
  readonly #client: Client;
  readonly #answers: MessageAnswers;
  readonly #service: HttpService;
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #times: ConnectionTimes;
  readonly #events: ConnectionEvents;
  readonly #exchanges: HttpExchanges;
  #maxQueries: number;
  /** Queries without an answer yet, and answers that are not sent yet. */
  #owed = 0;
  #unsent = 0;
  /** Queries that wait for their client's turn: at most `owed` of the limits. */
  readonly #waiting: WaitingExchange[] = [];
  #isScheduled = false;
  #isEnding = false;
  #isGone = false;
  #reason: EndReason = 'client';

  constructor(
    socket: Socket | TLSSocket,
    client: Client,
    service: HttpService,
    answers: MessageAnswers,
    limits: ConnectionLimits,
    clock: Clock,
    events: ConnectionEvents,
  ) {
    this.#socket = socket;
    this.#client = client;
    this.#service = service;
    this.#answers = answers;
    this.#limits = limits;
    this.#clock = clock;
    this.#events = events;
    this.#maxQueries = limits.queries;
    this.#times = new ConnectionTimes(limits, clock, {
      activity: () => this.#activity,
      end: (reason) => this.#end(reason),
      destroy: () => this.destroy(),
    });
    socket.setNoDelay(true);
    socket.on('error', () => {
      if (!this.#isEnding) this.#reason = 'error';
    });
    socket.on('close', () => this.#onClose());
    const onExchange = (exchange: HttpExchange): void => this.#serve(exchange);
    const isHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
    this.#exchanges = isHttp2
      ? serveHttp2(socket, limits.owed, onExchange)
      : service.http1.serve(socket, onExchange);
  }

  leave(): void {
    if (this.queries > 0) this.#end('leaving');
    else this.#maxQueries = 1;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  get isIdle(): boolean {
    return this.#isEnding || this.#owed + this.#unsent === 0;
  }

  endIfIdleFor(milliseconds: number): void {
    if (this.isIdle && this.#times.hasBeenIdleFor(milliseconds)) this.#end('idle');
  }

  get lastActive(): number {
    return this.#times.lastActive;
  }

  get #activity(): ConnectionActivity {
    if (this.#unsent > 0) return 'unread';
    if (this.#owed > 0) return 'pending';
    return this.queries === 0 ? 'new' : 'idle';
  }

  cut(reason: EndReason): void {
    this.#reason = reason;
    this.#isEnding = true;
    this.destroy();
    // Its place is needed now, but 'close' comes later.
    this.#onClose();
  }

  #serve(exchange: HttpExchange): void {
    if (this.#owed + this.#unsent >= this.#limits.owed) {
      this.#refuse(exchange, 503);
      return;
    }
    const reading = readRequest(exchange.head);
    if (reading.kind === 'refused') this.#refuse(exchange, reading.status);
    else if (reading.kind === 'message') this.#schedule(exchange, reading.message);
    else this.#collect(exchange);
  }

  /** Reads the message of a POST. */
  #collect(exchange: HttpExchange): void {
    const pieces: Uint8Array[] = [];
    let octets = 0;
    exchange.onClose(() => this.#hold(-octets));
    exchange.body.on('data', (piece: Uint8Array) => {
      if (octets > MAX_MESSAGE_OCTETS) return;
      octets += piece.length;
      this.#hold(piece.length);
      if (octets > MAX_MESSAGE_OCTETS) this.#refuse(exchange, 400);
      else pieces.push(piece);
    });
    exchange.body.on('end', () => {
      if (octets > MAX_MESSAGE_OCTETS) return;
      const message = Buffer.concat(pieces);
      if (isQuery(message)) this.#schedule(exchange, message);
      else this.#refuse(exchange, 400);
    });
  }

  /** Answers a query when it is its client's turn. */
  #schedule(exchange: HttpExchange, message: Uint8Array): void {
    this.#owed++;
    this.#waiting.push({ exchange, message });
    this.#await();
  }

  /** Serves it when it is its client's turn. */
  #await(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    mainTurns.add(this.#client.address, this);
  }

  /** Answers the queries that wait, for the time of a turn. */
  serve(): void {
    this.#isScheduled = false;
    const end = this.#clock.monotonic() + SERVED_MILLISECONDS;
    do {
      const query = this.#waiting.shift();
      if (query === undefined || this.#isGone) return;
      this.#owed--;
      this.#ask(query.exchange, query.message);
    } while (this.#clock.monotonic() < end);
    this.#await();
  }

  #ask(exchange: HttpExchange, message: Uint8Array): void {
    this.queries++;
    this.#times.noteActivity();
    const answer = this.#answers.answer(message, this.#client);
    const isLast = this.queries >= this.#maxQueries;
    if (answer.kind === 'later') void this.#respondLater(exchange, answer.response, isLast);
    else this.#respond(exchange, answer.kind === 'response' ? answer.response : undefined, isLast);
    if (isLast) this.#end('queries');
  }

  async #respondLater(
    exchange: HttpExchange,
    coming: Promise<Uint8Array | undefined>,
    isLast: boolean,
  ): Promise<void> {
    this.#owed++;
    const response = await coming;
    this.#owed--;
    this.#respond(exchange, response, isLast);
  }

  #respond(exchange: HttpExchange, response: Uint8Array | undefined, isLast: boolean): void {
    if (this.#isGone) return;
    if (response === undefined) {
      this.#refuse(exchange, 500);
      return;
    }
    this.#sending(exchange, response.length);
    const headers = {
      'content-type': DNS_MESSAGE,
      'cache-control': `max-age=${freshnessOf(response)}`,
      'content-length': response.length,
    };
    this.#service.onResponse(200);
    exchange.respond(200, headers, response, isLast || this.#isEnding);
  }

  /** A request that is no query leaves the connection open. */
  #refuse(exchange: HttpExchange, status: number): void {
    const body = Buffer.from(FAULTS[status] ?? '');
    this.#sending(exchange, body.length);
    this.#service.onResponse(status);
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-length': body.length,
    };
    exchange.respond(status, headers, body, this.#isEnding);
  }

  #sending(exchange: HttpExchange, octets: number): void {
    this.#unsent++;
    this.#hold(octets);
    exchange.onClose(() => {
      this.#unsent--;
      this.#hold(-octets);
      this.#times.noteActivity();
      if (this.#isEnding && this.#owed + this.#unsent === 0) this.#exchanges.end();
    });
  }

  #hold(more: number): void {
    if (this.#isGone || more === 0) return;
    this.heldOctets += more;
    this.#events.onHeld(this, more);
  }

  #end(reason: EndReason): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#reason = reason;
    this.#times.limitEnd();
    if (this.#owed + this.#unsent === 0) this.#exchanges.end();
  }

  #onClose(): void {
    if (this.#isGone) return;
    this.#times.stop();
    this.#hold(-this.heldOctets);
    this.#isGone = true;
    this.#events.onEnd(this, this.#reason);
  }
}
