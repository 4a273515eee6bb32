/**
 * Queries as requests of HTTP: by HTTP/2 with many in flight on a connection (RFC 9113), or by HTTP/1.1 with one.
 *
 * A server may end a connection at any time: by GOAWAY, or without a word. Requests without a whole response are then lost.
 */
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
} from 'node:http2';
import type { Agent } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../base/clock.ts';
import { CONNECTION_CLOSED, CONNECTION_LOSSES, toErrorCode } from './transport.ts';

/** Loaded when first used: most servers use other transports. */
const loadHttps = () => process.getBuiltinModule('node:https');
const loadHttp2 = () => process.getBuiltinModule('node:http2');

export interface HttpRequest {
  readonly method: 'POST' | 'GET';
  readonly path: string;
  /** The name or address of the server, without a port; an IPv6 address in brackets. */
  readonly host: string;
  readonly headers: Readonly<Record<string, string | number>>;
  /** Undefined: the query is in the path. */
  readonly body: Uint8Array | undefined;
  /** Makes what reads the response. */
  readonly createReader: () => ResponseReader;
}

/** Reads one response. Each method returns why there is no reply in it; undefined: there may be one. */
export interface ResponseReader {
  begin(status: number, headers: IncomingHttpHeaders): string | undefined;
  add(octets: Buffer): string | undefined;
  /** @param trailers undefined: there are none */
  end(trailers: IncomingHttpHeaders | undefined): string | undefined;
  /** The reply: a DNS message. Call it after `end` has returned undefined. */
  take(): Uint8Array;
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

/** One request at a time on each connection, which Node's agent keeps. */
export class Http1Requests {
  readonly #agent: Agent;

  /**
   * @param first a connection that is open already
   * @param open begins to open another one
   */
  constructor(first: Socket, open: () => Socket) {
    this.#agent = new (loadHttps().Agent)({ keepAlive: true });
    let ready: Socket | undefined = first;
    this.#agent.createConnection = () => {
      const socket = ready?.destroyed === false ? ready : open();
      ready = undefined;
      return socket;
    };
  }

  send({ method, path, host, headers, body, createReader }: HttpRequest, events: RequestEvents): SentRequest {
    const request = loadHttps().request({ method, path, agent: this.#agent, headers: { host, ...headers } });
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
      const reader = createReader();
      const give = (fault: string | undefined) => {
        if (isOver) return;
        isOver = true;
        if (fault === undefined) events.answered(reader.take());
        else events.failed(fault);
      };
      const begun = reader.begin(response.statusCode ?? 0, response.headers);
      if (begun !== undefined) {
        give(begun);
        response.resume();
        return;
      }
      response.on('data', (octets: Buffer) => {
        const fault = isOver ? undefined : reader.add(octets);
        if (fault === undefined) return;
        give(fault);
        request.destroy();
      });
      response.on('end', () => give(reader.end(undefined)));
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

/** Requests in flight on one connection, if the server takes as many: as many as most servers take. */
const MAX_STREAMS = 100;
/** Error codes of RFC 9113 section 7: none, and that of a request that is given up. */
const NO_ERROR = 0;
const CANCEL = 8;

export interface Http2ConnectionOptions {
  readonly isEncrypted: boolean;
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
  #isEnding = false;
  #idle: Timer | undefined;
  /** When the server last sent something, by the clock's monotonic time. */
  lastHeard: number;

  /** @param socket an open connection, on which the server expects HTTP/2 */
  constructor(socket: Socket, options: Http2ConnectionOptions) {
    this.#options = options;
    this.lastHeard = options.clock.monotonic();
    // Only requests name the server.
    this.#session = loadHttp2().connect(options.isEncrypted ? 'https://server' : 'http://server', {
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
    return !this.#isEnding && !this.#session.closed && !this.#session.destroyed;
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

  send({ method, path, host, headers, body, createReader }: HttpRequest, events: RequestEvents): SentRequest {
    const wasUsed = this.#sent > 0;
    this.#load += 1;
    this.#sent += 1;
    this.#idle?.cancel();
    const stream = this.#session.request(
      { ':method': method, ':path': path, ':authority': host, ...headers },
      { endStream: body === undefined },
    );
    if (body !== undefined) stream.end(body);
    const exchange = new Http2Request(stream, createReader(), events, wasUsed, () => {
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

  /** Ends all requests, and takes no more. */
  destroy(): void {
    this.#isEnding = true;
    this.#idle?.cancel();
    endHttp2Session(this.#session);
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

/**
 * Ends a connection with all its streams, in the next turn of the event loop. Make no request after the call.
 *
 * Node.js 20 corrupts its heap where a session is destroyed in the turn of a request, whose frames are not written yet.
 *
 * @param error for the streams. Default: they end without one
 */
export function endHttp2Session(session: ClientHttp2Session, error?: Error): void {
  setImmediate(() => session.destroy(error));
}

class Http2Request implements SentRequest {
  readonly #stream: ClientHttp2Stream;
  readonly #events: RequestEvents;
  readonly #reader: ResponseReader;
  #hasBegun = false;
  #trailers: IncomingHttpHeaders | undefined;
  #isOver = false;

  constructor(
    stream: ClientHttp2Stream,
    reader: ResponseReader,
    events: RequestEvents,
    wasUsed: boolean,
    heard: () => void,
  ) {
    this.#stream = stream;
    this.#reader = reader;
    this.#events = events;
    stream.on('response', (headers: IncomingHttpHeaders & IncomingHttpStatusHeader) => {
      heard();
      this.#hasBegun = true;
      this.#failBy(reader.begin(headers[':status'] ?? 0, headers));
    });
    stream.on('data', (octets: Buffer) => {
      heard();
      if (!this.#isOver) this.#failBy(reader.add(octets));
    });
    stream.on('trailers', (trailers) => {
      this.#trailers = trailers;
    });
    stream.on('end', () => {
      // A stream that ends without a response was reset.
      if (this.#hasBegun && stream.rstCode === NO_ERROR) this.#end();
    });
    // What ends a stream is told by its code.
    stream.on('error', () => {});
    stream.on('close', () => this.#finish(() => events.lost(describeEnd(stream.rstCode), wasUsed)));
  }

  cancel(): void {
    this.#isOver = true;
    this.#stream.close(CANCEL);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#failBy(this.#reader.end(this.#trailers));
    this.#finish(() => this.#events.answered(this.#reader.take()));
  }

  #failBy(fault: string | undefined): void {
    if (fault === undefined) return;
    this.#finish(() => this.#events.failed(fault));
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
