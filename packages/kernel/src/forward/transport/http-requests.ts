/**
 * Queries as requests of HTTP (RFC 8484 section 4.1): by HTTP/2 with many in flight on a connection (RFC 9113), or by HTTP/1.1 with one.
 *
 * A server may end a connection at any time: by GOAWAY, or without a word. Requests without a whole response are then lost.
 */
import type { IncomingMessage } from 'node:http';
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
} from 'node:http2';
import type { Agent } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { MAX_MESSAGE_OCTETS } from '@portolan/dns/response-size.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { CONNECTION_CLOSED, CONNECTION_LOSSES, toErrorCode } from './transport.ts';

/** Loaded when first used: most servers use other transports. */
const loadHttps = () => process.getBuiltinModule('node:https');
const loadHttp2 = () => process.getBuiltinModule('node:http2');

const MEDIA_TYPE = 'application/dns-message';
const PATH = '/dns-query';

export interface HttpRequest {
  readonly method: 'POST' | 'GET';
  readonly path: string;
  /** The name or address of the server, without a port; an IPv6 address in brackets. */
  readonly host: string;
  /** Undefined: the query is in the path. */
  readonly body: Uint8Array | undefined;
}

export function makeRequest(method: 'POST' | 'GET', host: string, octets: Uint8Array): HttpRequest {
  if (method === 'POST') return { method, path: PATH, host, body: octets };
  const path = `${PATH}?dns=${Buffer.from(octets).toString('base64url')}`;
  return { method, path, host, body: undefined };
}

/** One of these is called once, unless the request is cancelled. */
export interface RequestEvents {
  /** @param octets the whole body of a response with status 200 */
  answered(octets: Uint8Array): void;
  /** Repeating the request would not help. */
  failed(code: string): void;
  /**
   * The connection ended, or the server gave up the request, before the response was whole.
   *
   * @param wasUsed whether the connection had carried other requests before: it may have been closed for being idle
   */
  lost(code: string, wasUsed: boolean): void;
}

export interface SentRequest {
  cancel(): void;
}

/** The body of a response. */
class ResponseBody {
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  /** @returns whether it may still be a DNS message */
  add(chunk: Uint8Array): boolean {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    return this.#size <= MAX_MESSAGE_OCTETS;
  }

  take(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }
}

const TOO_LARGE = 'response larger than a DNS message';

/** One request at a time on each connection, which Node's agent keeps. */
export class Http1Requests {
  readonly #agent: Agent;

  /**
   * @param first a connection that is open already
   * @param open begins to open another one
   */
  constructor(first: TLSSocket, open: () => TLSSocket) {
    this.#agent = new (loadHttps().Agent)({ keepAlive: true });
    let ready: TLSSocket | undefined = first;
    this.#agent.createConnection = () => {
      const socket = ready?.destroyed === false ? ready : open();
      ready = undefined;
      return socket;
    };
  }

  send({ method, path, host, body }: HttpRequest, events: RequestEvents): SentRequest {
    const request = loadHttps().request({
      method,
      path,
      agent: this.#agent,
      headers: {
        host,
        accept: MEDIA_TYPE,
        ...(body !== undefined && { 'content-type': MEDIA_TYPE, 'content-length': body.length }),
      },
    });
    let isOver = false;
    const fail = (error: Error) => {
      if (isOver) return;
      isOver = true;
      const code = toErrorCode(error);
      if (CONNECTION_LOSSES.has(code)) events.lost(code, request.reusedSocket);
      else events.failed(code);
    };
    request.on('error', fail);
    request.on('response', (response) => {
      response.on('error', fail);
      readResponse(response, (octets, code) => {
        if (isOver) return;
        isOver = true;
        if (octets !== undefined) events.answered(octets);
        else events.failed(code);
        if (code === TOO_LARGE) request.destroy();
      });
    });
    request.end(body);
    return {
      cancel() {
        isOver = true;
        request.destroy();
      },
    };
  }

  /** Takes no more requests, and closes each connection after the one in flight. */
  leave(): void {
    this.#agent.maxFreeSockets = 0;
    for (const idle of Object.values(this.#agent.freeSockets))
      for (const socket of idle ?? []) socket.destroy();
  }

  /** Ends all connections, without events. */
  close(): void {
    this.#agent.destroy();
  }
}

function readResponse(
  response: IncomingMessage,
  done: (octets: Uint8Array | undefined, code: string) => void,
): void {
  if (response.statusCode !== 200) {
    response.resume();
    done(undefined, `HTTP status ${response.statusCode}`);
    return;
  }
  const body = new ResponseBody();
  response.on('data', (chunk: Uint8Array) => {
    if (!body.add(chunk)) done(undefined, TOO_LARGE);
  });
  response.on('end', () => done(body.take(), ''));
}

/** Requests in flight on one connection, if the server takes as many: as many as most servers take. */
const MAX_STREAMS = 100;
/** Error codes of RFC 9113 section 7: none, and that of a request that is given up. */
const NO_ERROR = 0;
const CANCEL = 8;

export interface Http2ConnectionOptions {
  /** Milliseconds for which an idle connection is kept. */
  readonly idle: number;
  readonly clock: Clock;
  /** It takes no more requests. */
  readonly onLeft: () => void;
  readonly onClosed: () => void;
}

export class Http2Connection {
  readonly #session: ClientHttp2Session;
  readonly #options: Http2ConnectionOptions;
  #load = 0;
  #sent = 0;
  #isLeaving = false;
  #idle: Timer | undefined;
  /** When the server last sent something, by the clock's monotonic time. */
  lastHeard: number;

  /** @param socket an open connection, with `h2` agreed on */
  constructor(socket: TLSSocket, options: Http2ConnectionOptions) {
    this.#options = options;
    this.lastHeard = options.clock.monotonic();
    // Only requests name the server.
    this.#session = loadHttp2().connect('https://server', {
      createConnection: () => socket,
      settings: { enablePush: false },
    });
    this.#session.unref();
    const leave = () => this.#leave();
    // What happens to requests is told to their streams.
    this.#session.on('error', leave);
    this.#session.on('goaway', leave);
    this.#session.on('close', () => {
      leave();
      options.onClosed();
    });
    this.#rest();
  }

  /** Whether a request may be sent: the network may end it before anybody is told. */
  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  /** Requests in flight. */
  get load(): number {
    return this.#load;
  }

  /** Whether the server takes another request now. */
  get hasRoom(): boolean {
    const { maxConcurrentStreams = MAX_STREAMS } = this.#session.remoteSettings;
    return this.#load < Math.min(MAX_STREAMS, Math.max(1, maxConcurrentStreams));
  }

  send({ method, path, host, body }: HttpRequest, events: RequestEvents): SentRequest {
    const wasUsed = this.#sent > 0;
    this.#load += 1;
    this.#sent += 1;
    this.#idle?.cancel();
    const stream = this.#session.request(
      {
        ':method': method,
        ':path': path,
        ':authority': host,
        accept: MEDIA_TYPE,
        ...(body !== undefined && { 'content-type': MEDIA_TYPE, 'content-length': body.length }),
      },
      { endStream: body === undefined },
    );
    if (body !== undefined) stream.end(body);
    const exchange = new Http2Request(stream, events, wasUsed, () => {
      this.lastHeard = this.#options.clock.monotonic();
    });
    stream.once('close', () => {
      this.#load -= 1;
      this.#rest();
    });
    return exchange;
  }

  /** Takes no more requests, and closes after those in flight. */
  leave(): void {
    this.#leave();
    this.#session.close();
  }

  /** Ends all requests. */
  destroy(): void {
    this.#idle?.cancel();
    this.#session.destroy();
  }

  #leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#idle?.cancel();
    this.#options.onLeft();
  }

  #rest(): void {
    if (this.#load > 0 || this.#isLeaving) return;
    this.#idle?.cancel();
    this.#idle = this.#options.clock.after(this.#options.idle, () => this.leave());
  }
}

class Http2Request implements SentRequest {
  readonly #stream: ClientHttp2Stream;
  readonly #events: RequestEvents;
  readonly #body = new ResponseBody();
  #status: number | undefined;
  #isOver = false;

  constructor(stream: ClientHttp2Stream, events: RequestEvents, wasUsed: boolean, heard: () => void) {
    this.#stream = stream;
    this.#events = events;
    stream.on('response', (headers) => {
      heard();
      this.#begin(headers);
    });
    stream.on('data', (chunk: Uint8Array) => {
      heard();
      if (!this.#body.add(chunk)) this.#fail(TOO_LARGE);
    });
    stream.on('end', () => {
      // A stream that ends without a response was reset.
      if (this.#status === 200 && stream.rstCode === NO_ERROR)
        this.#finish(() => events.answered(this.#body.take()));
    });
    // What ends a stream is told by its code.
    stream.on('error', () => {});
    stream.on('close', () => this.#finish(() => events.lost(describeEnd(stream.rstCode), wasUsed)));
  }

  cancel(): void {
    this.#isOver = true;
    this.#stream.close(CANCEL);
  }

  #begin({ ':status': status }: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    this.#status = status;
    if (this.#status !== 200) this.#fail(`HTTP status ${status}`);
  }

  #fail(code: string): void {
    this.#finish(() => this.#events.failed(code));
    this.#stream.close(CANCEL);
  }

  #finish(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    tell();
  }
}

/** Streams of a connection that ends have the code of cancelled ones. */
function describeEnd(code: number): string {
  return code === NO_ERROR || code === CANCEL ? CONNECTION_CLOSED : `HTTP/2 stream error ${code}`;
}
