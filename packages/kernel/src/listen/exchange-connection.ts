/**
 * One client's connection on which each request is a query, answered as one over TCP: by HTTPS or gRPC.
 *
 * Octets of its requests and of unread responses are accounted for. Times are limited as on other connections.
 */
import type { Client } from '../chain/query.ts';
import { ClientConnection, type ClientConnectionOptions } from './client-connection.ts';
import type { ConnectionExchanges, ServedExchange } from './exchanges/served-exchange.ts';
import type { MessageAnswers } from './message-answers.ts';
import type { EndReason } from './served-connection.ts';

/** A query, and the exchange that asks it. */
interface WaitingExchange<Exchange> {
  readonly exchange: Exchange;
  readonly message: Uint8Array;
  /** When it came, by the monotonic clock. */
  readonly arrived: number;
}

export abstract class ExchangeConnection<Exchange extends ServedExchange> extends ClientConnection {
  protected override reason: EndReason = 'client';
  protected override isEnding = false;
  protected abstract readonly exchanges: ConnectionExchanges;
  readonly #client: Client;
  readonly #answers: MessageAnswers;
  /** Answers that are not sent yet. */
  #unsent = 0;
  /** Queries that wait for their client's turn: at most `owed` of the limits. */
  readonly #waiting: WaitingExchange<Exchange>[] = [];

  constructor(options: ClientConnectionOptions) {
    super(options);
    this.#client = options.client;
    this.#answers = options.answers;
    options.socket.on('error', () => {
      if (!this.isEnding) this.reason = 'error';
    });
  }

  /** @param response undefined: there is none. @param isLast whether the connection ends with it */
  protected abstract respond(exchange: Exchange, response: Uint8Array | undefined, isLast: boolean): void;

  protected override get hasUnread(): boolean {
    return this.#unsent > 0;
  }

  /** Whether no further request can be taken now. */
  protected get isFull(): boolean {
    return this.owed + this.#unsent >= this.limits.owed;
  }

  /** Answers a query when it is its client's turn. */
  protected answerInTurn(exchange: Exchange, message: Uint8Array): void {
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

  #ask({ exchange, message, arrived }: WaitingExchange<Exchange>): void {
    this.queries++;
    this.noteActivity();
    const answer = this.#answers.answer(message, this.#client, arrived);
    const isLast = this.queries >= this.maxQueries;
    if (answer.kind === 'later') void this.#respondLater(exchange, answer.response, isLast);
    else this.#respond(exchange, answer.kind === 'response' ? answer.response : undefined, isLast);
    if (isLast) this.end('queries');
  }

  async #respondLater(
    exchange: Exchange,
    coming: Promise<Uint8Array | undefined>,
    isLast: boolean,
  ): Promise<void> {
    this.owed++;
    const response = await coming;
    this.owed--;
    this.#respond(exchange, response, isLast);
  }

  #respond(exchange: Exchange, response: Uint8Array | undefined, isLast: boolean): void {
    if (!this.isGone) this.respond(exchange, response, isLast || this.isEnding);
  }

  /** A response of so many octets is on its way. */
  protected noteSending(exchange: Exchange, octets: number): void {
    this.#unsent++;
    this.hold(octets);
    exchange.onClose(() => {
      this.#unsent--;
      this.hold(-octets);
      this.noteActivity();
      if (this.isEnding && this.owed + this.#unsent === 0) this.exchanges.end();
    });
  }

  protected override end(reason: EndReason): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.reason = reason;
    this.limitEnd();
    if (this.owed + this.#unsent === 0) this.exchanges.end();
  }
}
