/**
 * Queries as requests of HTTP to one server: over HTTPS (RFC 8484), by HTTP/2 where the server has it, else by HTTP/1.1; or over gRPC, by
 * HTTP/2, on TLS or not.
 *
 * HTTP matches each reply to its query, so the message id is always 0, as section 4.1 recommends for HTTP caches.
 *
 * A server may close a connection just when a query is sent, or before its reply is whole. The query is then sent again at once.
 */
import type { Socket } from 'node:net';
import { tryDecodeMessage } from '@portolan/dns/message.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { formatHost } from '../../base/socket-address.ts';
import {
  Http1Requests,
  Http2Connection,
  type HttpRequest,
  type RequestEvents,
  type SentRequest,
} from './http-requests.ts';
import { isBareError, type QueryMessage, repeatsQuestion } from './query-message.ts';
import { type ConnectOptions, nameServer, openTls, type TlsPeer, type TlsSessions } from './tls-socket.ts';
import {
  CONNECTION_LOSSES,
  type DroppedPackets,
  type Exchange,
  type ExchangeEvents,
  findLeastLoaded,
  type Transport,
  toErrorCode,
} from './transport.ts';

export interface RequestTransportOptions {
  readonly place: ConnectOptions;
  /** Undefined: connections are not encrypted. */
  readonly tls: TlsPeer | undefined;
  /** What the server is offered (ALPN): HTTP/2, and perhaps HTTP/1.1. One alone needs no agreement. */
  readonly protocols: typeof HTTPS_PROTOCOLS | typeof GRPC_PROTOCOLS;
  /** @param host the name or address of the server, without a port; an IPv6 address in brackets */
  readonly makeRequest: (host: string, octets: Uint8Array) => HttpRequest;
  readonly clock: Clock;
}

const HTTP2 = 'h2';
const HTTP1 = 'http/1.1';
export const HTTPS_PROTOCOLS = [HTTP2, HTTP1] as const;
export const GRPC_PROTOCOLS = [HTTP2] as const;

/** Milliseconds for which an idle connection is kept. */
const IDLE_MILLISECONDS = 30_000;
/** Milliseconds until a connection must be open. */
const OPEN_TIMEOUT = 5000;
/** Connections to a server that takes few requests at a time on each. */
const MAX_CONNECTIONS = 16;

/** Loaded when first used: most servers are asked without HTTP. */
const loadNet = () => process.getBuiltinModule('node:net');

export class RequestTransport implements Transport {
  readonly isReliable = true;
  readonly dropped: DroppedPackets = { strange: 0, otherQuestion: 0, otherCase: 0 };
  readonly #options: RequestTransportOptions;
  /** As requests name the server. */
  readonly #host: string;
  readonly #sessions: TlsSessions = { last: undefined };
  /** Of a server without HTTP/2. */
  #http1: Http1Requests | undefined;
  /** Those that take queries, and all that are open. */
  #connections: readonly Http2Connection[] = [];
  readonly #all = new Set<Http2Connection>();
  #opening: Socket | undefined;
  /** Queries that wait for a connection. */
  readonly #waiting = new Set<RequestExchange>();

  constructor(options: RequestTransportOptions) {
    this.#options = options;
    this.#host = formatHost(nameServer(options.place, options.tls?.serverName));
  }

  ask(query: QueryMessage, events: ExchangeEvents): Exchange {
    const { makeRequest, clock } = this.#options;
    const request = makeRequest(this.#host, query.octets);
    const send = (each: RequestExchange): void => this.#send(each);
    const exchange = new RequestExchange(query, request, events, clock.monotonic(), send);
    send(exchange);
    return {
      overdue: () => this.#overdue(exchange),
      cancel: () => {
        this.#waiting.delete(exchange);
        exchange.cancel();
      },
    };
  }

  close(): void {
    this.#opening?.destroy();
    this.#opening = undefined;
    this.#waiting.clear();
    this.#http1?.close();
    this.#http1 = undefined;
    for (const connection of this.#all) connection.destroy();
  }

  #send(exchange: RequestExchange): void {
    if (this.#http1 !== undefined) exchange.sendBy(this.#http1);
    else if (!this.#sendByHttp2(exchange)) {
      this.#waiting.add(exchange);
      this.#open();
    }
  }

  /** @returns whether it was sent; if not, another connection is to be opened */
  #sendByHttp2(exchange: RequestExchange): boolean {
    const usable = this.#usable;
    const best = findLeastLoaded(usable);
    if (best === undefined || (!best.hasRoom && usable.length < MAX_CONNECTIONS)) return false;
    exchange.sendBy(best);
    return true;
  }

  get #usable(): readonly Http2Connection[] {
    return this.#connections.filter(({ isOpen }) => isOpen);
  }

  #open(): void {
    if (this.#opening !== undefined) return;
    const { tls, protocols, clock } = this.#options;
    const socket = this.#connect(protocols);
    this.#opening = socket;
    const fail = (code: string) => {
      timeout.cancel();
      if (this.#opening !== socket) return;
      this.#opening = undefined;
      this.#sessions.last = undefined;
      for (const exchange of this.#takeWaiting()) this.#unopened(exchange, code);
    };
    socket.once('error', (error) => fail(toErrorCode(error)));
    socket.once('close', () => fail('ECONNRESET'));
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      timeout.cancel();
      this.#opened(socket);
    });
    const timeout: Timer = clock.after(OPEN_TIMEOUT, () => {
      fail('ETIMEDOUT');
      socket.destroy();
    });
  }

  #connect(protocols: readonly string[]): Socket {
    const { place, tls } = this.#options;
    const socket =
      tls === undefined ? loadNet().connect(place) : openTls(place, tls, this.#sessions, protocols);
    socket.unref();
    socket.setNoDelay(true);
    return socket;
  }

  #opened(socket: Socket): void {
    if (this.#opening !== socket) return;
    this.#opening = undefined;
    const { protocols } = this.#options;
    const isHttp2 = protocols.length === 1 || ('alpnProtocol' in socket && socket.alpnProtocol === HTTP2);
    if (isHttp2) this.#addConnection(socket);
    else {
      const http1: Http1Requests = new Http1Requests(socket, () => this.#openForHttp1(http1));
      this.#http1 = http1;
    }
    for (const exchange of this.#takeWaiting()) this.#send(exchange);
  }

  /** The connection that it waited for could not be opened: another one takes it, once that has room. */
  #unopened(exchange: RequestExchange, code: string): void {
    const other = findLeastLoaded(this.#usable);
    if (other !== undefined) exchange.sendBy(other);
    else if (CONNECTION_LOSSES.has(code)) exchange.lost(code, false);
    else exchange.failed(code);
  }

  #takeWaiting(): readonly RequestExchange[] {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    return waiting;
  }

  #addConnection(socket: Socket): void {
    const connection: Http2Connection = new Http2Connection(socket, {
      isEncrypted: this.#options.tls !== undefined,
      clock: this.#options.clock,
      idle: IDLE_MILLISECONDS,
      onLeft: () => {
        this.#connections = this.#connections.filter((other) => other !== connection);
      },
      onClosed: () => this.#all.delete(connection),
    });
    this.#connections = [...this.#connections, connection];
    this.#all.add(connection);
  }

  #openForHttp1(http1: Http1Requests): Socket {
    const socket = this.#connect([HTTP1]);
    // It may have become a server with HTTP/2 alone.
    const forget = (): void => {
      http1.leave();
      if (this.#http1 === http1) this.#http1 = undefined;
    };
    socket.once('error', forget);
    socket.once('secureConnect', () => socket.off('error', forget));
    return socket;
  }

  /** A connection that has been silent since the query may be half open. */
  #overdue({ askedAt, connection }: RequestExchange): void {
    if (connection !== undefined && connection.lastHeard < askedAt) connection.leave();
  }
}

/** How often a query is sent again: after the connections that may all be closed by now, a new one. */
const MAX_REPEATS = 3;

class RequestExchange implements RequestEvents {
  readonly askedAt: number;
  /** By HTTP/2. */
  connection: Http2Connection | undefined;
  readonly #query: QueryMessage;
  readonly #request: HttpRequest;
  readonly #events: ExchangeEvents;
  readonly #send: (exchange: RequestExchange) => void;
  #sent: SentRequest | undefined;
  #repeats = 0;
  #isDone = false;

  /** @param send sends it by one of the connections: it calls `sendBy`, `failed` or `lost` */
  constructor(
    query: QueryMessage,
    request: HttpRequest,
    events: ExchangeEvents,
    askedAt: number,
    send: (exchange: RequestExchange) => void,
  ) {
    this.#query = query;
    this.#request = request;
    this.#events = events;
    this.askedAt = askedAt;
    this.#send = send;
  }

  sendBy(connection: Http1Requests | Http2Connection): void {
    this.connection = connection instanceof Http2Connection ? connection : undefined;
    this.#sent = connection.send(this.#request, this);
  }

  cancel(): void {
    this.#isDone = true;
    this.#sent?.cancel();
  }

  answered(octets: Uint8Array): void {
    if (this.#isDone) return;
    const { length } = octets;
    const isReply = isBareError(octets, 0, length) || repeatsQuestion(octets, 0, length, this.#query);
    const reply = isReply ? tryDecodeMessage(octets) : undefined;
    if (reply === undefined) {
      this.failed('malformed');
      return;
    }
    this.#isDone = true;
    this.#events.replied(reply, length);
  }

  failed(code: string): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#events.failed(code);
  }

  /** On a new connection it is sent once more. */
  lost(code: string, wasUsed: boolean): void {
    if (this.#isDone) return;
    this.#repeats += wasUsed ? 1 : MAX_REPEATS - 1;
    if (this.#repeats > MAX_REPEATS) this.failed(code);
    else this.#send(this);
  }
}
