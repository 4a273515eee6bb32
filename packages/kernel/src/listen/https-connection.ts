/**
 * One client's connection of DNS over HTTPS (RFC 8484).
 */
import { MAX_MESSAGE_OCTETS } from '@portolan/dns/response-size.ts';
import { OctetCollector } from '../base/octet-collector.ts';
import type { ClientConnectionOptions } from './client-connection.ts';
import { ExchangeConnection } from './exchange-connection.ts';
import { isQuery } from './exchanges/query-header.ts';
import type { ConnectionExchanges } from './exchanges/served-exchange.ts';
import { DNS_MESSAGE, readRequest } from './https/dns-request.ts';
import { computeFreshness } from './https/freshness.ts';
import { type Http1Parser, type HttpExchange, serveHttp2 } from './https/http-exchanges.ts';

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

export class HttpsConnection extends ExchangeConnection<HttpExchange> {
  protected override readonly exchanges: ConnectionExchanges;
  readonly #service: HttpService;

  constructor(service: HttpService, options: ClientConnectionOptions) {
    super(options);
    const { socket } = options;
    this.#service = service;
    const onExchange = (exchange: HttpExchange): void => this.#serve(exchange);
    const isHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
    this.exchanges = isHttp2
      ? serveHttp2(socket, this.limits.owed, onExchange)
      : service.http1.serve(socket, onExchange);
  }

  #serve(exchange: HttpExchange): void {
    if (this.isFull) {
      this.#refuse(exchange, 503);
      return;
    }
    const reading = readRequest(exchange.head);
    if (reading.kind === 'refused') this.#refuse(exchange, reading.status);
    else if (reading.kind === 'message') this.answerInTurn(exchange, reading.message);
    else this.#collect(exchange);
  }

  /** Reads the message of a POST. */
  #collect(exchange: HttpExchange): void {
    const body = new OctetCollector();
    exchange.onClose(() => this.hold(-body.length));
    exchange.body.on('data', (piece: Uint8Array) => {
      if (body.length > MAX_MESSAGE_OCTETS) return;
      body.add(piece);
      this.hold(piece.length);
      if (body.length > MAX_MESSAGE_OCTETS) this.#refuse(exchange, 400);
    });
    exchange.body.on('end', () => {
      if (body.length > MAX_MESSAGE_OCTETS) return;
      if (isQuery(body.octets)) this.answerInTurn(exchange, body.octets);
      else this.#refuse(exchange, 400);
    });
  }

  protected override respond(
    exchange: HttpExchange,
    response: Uint8Array | undefined,
    isLast: boolean,
  ): void {
    if (response === undefined) {
      this.#refuse(exchange, 500);
      return;
    }
    this.noteSending(exchange, response.length);
    const headers = {
      'content-type': DNS_MESSAGE,
      'cache-control': `max-age=${computeFreshness(response)}`,
      'content-length': response.length,
    };
    this.#service.onResponse(200);
    exchange.respond(200, headers, response, isLast);
  }

  /** A request that is no query leaves the connection open. */
  #refuse(exchange: HttpExchange, status: number): void {
    const body = Buffer.from(FAULTS[status] ?? '');
    this.noteSending(exchange, body.length);
    this.#service.onResponse(status);
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-length': body.length,
    };
    exchange.respond(status, headers, body, this.isEnding);
  }
}
