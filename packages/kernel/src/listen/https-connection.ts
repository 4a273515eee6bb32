/**
 * One client's connection of DNS over HTTPS (RFC 8484): each request is a query, answered as one over TCP.
 *
 * Octets of its requests and of unread responses are accounted for. Times are limited as on other connections.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { MAX_MESSAGE_OCTETS } from '@portolan/dns/response-size.ts';
import type { Clock } from '../base/clock.ts';
import type { Client } from '../chain/query.ts';
import { ClientConnection } from './client-connection.ts';
import { DNS_MESSAGE, isQuery, readRequest } from './https/dns-request.ts';
import { computeFreshness } from './https/freshness.ts';
import {
  type Http1Parser,
  type HttpExchange,
  type HttpExchanges,
  serveHttp2,
} from './https/http-exchanges.ts';
import type { MessageAnswers } from './message-answers.ts';
import type { ConnectionEvents, ConnectionLimits, EndReason } from './served-connection.ts';

export interface HttpService {
  readonly http1: Http1Parser;
  /** Counts a response. @param status of HTTP */
  onResponse(status: number): void;
}

/** In CoreDNS's words; a client shows them to nobody. */
const FAULTS: Readonly<Record<number, string>> = {
  400: 'invalid request\n',
  404: '\n',
  415: 'unsupported media type\n',
  500: 'No response\n',
  503: 'too many requests\n',
};

/** A query, and the exchange that asks it. */
interface WaitingExchange {
  readonly exchange: HttpExchange;
  readonly message: Uint8Array;
  /** When it came, by the monotonic clock. */
  readonly arrived: number;
}

export class HttpsConnection extends ClientConnection {
  protected override reason: EndReason = 'client';
  protected override isEnding = false;
  readonly #client: Client;
  readonly #answers: MessageAnswers;
  readonly #service: HttpService;
  readonly #exchanges: HttpExchanges;
  /** Answers that are not sent yet. */
  #unsent = 0;
  /** Queries that wait for their client's turn: at most `owed` of the limits. */
  readonly #waiting: WaitingExchange[] = [];

  constructor(
    socket: Socket | TLSSocket,
    client: Client,
    service: HttpService,
    answers: MessageAnswers,
    limits: ConnectionLimits,
    clock: Clock,
    events: ConnectionEvents,
  ) {
    super(socket, client, limits, clock, events);
    this.#client = client;
    this.#service = service;
    this.#answers = answers;
    socket.on('error', () => {
      if (!this.isEnding) this.reason = 'error';
    });
    const onExchange = (exchange: HttpExchange): void => this.#serve(exchange);
    const isHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
    this.#exchanges = isHttp2
      ? serveHttp2(socket, limits.owed, onExchange)
      : service.http1.serve(socket, onExchange);
  }

  protected override get hasUnread(): boolean {
    return this.#unsent > 0;
  }

  #serve(exchange: HttpExchange): void {
    if (this.owed + this.#unsent >= this.limits.owed) {
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
    exchange.onClose(() => this.hold(-octets));
    exchange.body.on('data', (piece: Uint8Array) => {
      if (octets > MAX_MESSAGE_OCTETS) return;
      octets += piece.length;
      this.hold(piece.length);
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
    this.owed++;
    this.#waiting.push({ exchange, message, arrived: this.clock.monotonic() });
    this.schedule();
  }

  protected override serveUntil(end: number): void {
    do {
      const query = this.#waiting.shift();
      if (query === undefined || this.isGone) return;
      this.owed--;
      this.#ask(query);
    } while (this.clock.monotonic() < end);
    if (this.#waiting.length > 0) this.schedule();
  }

  #ask({ exchange, message, arrived }: WaitingExchange): void {
    this.queries++;
    this.noteActivity();
    const answer = this.#answers.answer(message, this.#client, arrived);
    const isLast = this.queries >= this.maxQueries;
    if (answer.kind === 'later') void this.#respondLater(exchange, answer.response, isLast);
    else this.#respond(exchange, answer.kind === 'response' ? answer.response : undefined, isLast);
    if (isLast) this.end('queries');
  }

  async #respondLater(
    exchange: HttpExchange,
    coming: Promise<Uint8Array | undefined>,
    isLast: boolean,
  ): Promise<void> {
    this.owed++;
    const response = await coming;
    this.owed--;
    this.#respond(exchange, response, isLast);
  }

  #respond(exchange: HttpExchange, response: Uint8Array | undefined, isLast: boolean): void {
    if (this.isGone) return;
    if (response === undefined) {
      this.#refuse(exchange, 500);
      return;
    }
    this.#sending(exchange, response.length);
    const headers = {
      'content-type': DNS_MESSAGE,
      'cache-control': `max-age=${computeFreshness(response)}`,
      'content-length': response.length,
    };
    this.#service.onResponse(200);
    exchange.respond(200, headers, response, isLast || this.isEnding);
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
    exchange.respond(status, headers, body, this.isEnding);
  }

  #sending(exchange: HttpExchange, octets: number): void {
    this.#unsent++;
    this.hold(octets);
    exchange.onClose(() => {
      this.#unsent--;
      this.hold(-octets);
      this.noteActivity();
      if (this.isEnding && this.owed + this.#unsent === 0) this.#exchanges.end();
    });
  }

  protected override end(reason: EndReason): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.reason = reason;
    this.limitEnd();
    if (this.owed + this.#unsent === 0) this.#exchanges.end();
  }
}
