/**
 * One client's connection as a row of HTTP exchanges: HTTP/2 (RFC 9113) or HTTP/1.1 (RFC 9112), as the client has chosen.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { RequestHead } from './dns-request.ts';

/** Loaded when first used: most servers have no HTTPS. */
const loadHttp2 = () => process.getBuiltinModule('node:http2');
const loadHttp = () => process.getBuiltinModule('node:http');

/** A request, and the way to answer it. */
export interface HttpExchange {
  readonly head: RequestHead;
  readonly body: Readable;
  /** @param isLast whether the connection ends with it */
  respond(
    status: number,
    headers: Readonly<Record<string, string | number>>,
    body: Uint8Array,
    isLast: boolean,
  ): void;
  /** Calls `run` once: the response was handed to the kernel, or the exchange was given up. */
  onClose(run: () => void): void;
}

export interface HttpExchanges {
  /** Takes no further requests; the connection ends after those in progress. */
  end(): void;
}

const MEGABYTES_OF_SESSION = 1;

/** @param maxOpen requests of a connection in progress at the same time */
export function serveHttp2(
  socket: Socket,
  maxOpen: number,
  onExchange: (exchange: HttpExchange) => void,
): HttpExchanges {
  const session: ServerHttp2Session = loadHttp2().performServerHandshake(socket, {
    settings: { maxConcurrentStreams: maxOpen, enablePush: false },
    maxSessionMemory: MEGABYTES_OF_SESSION,
  });
  session.on('error', () => {});
  session.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    onExchange({
      head: {
        method: headers[':method'] ?? '',
        target: headers[':path'] ?? '',
        contentType: headers['content-type'],
      },
      body: stream,
      respond(status, fields, body) {
        if (stream.destroyed || stream.closed) return;
        stream.respond({ ':status': status, ...fields });
        stream.end(body);
      },
      onClose: (run) => void stream.once('close', run),
    });
  });
  return { end: () => session.close() };
}

/** Parses HTTP/1.1 for all connections of a listener. */
export class Http1Parser {
  readonly #server: Server;
  readonly #takers = new WeakMap<Socket, (exchange: HttpExchange) => void>();

  constructor() {
    // The connections have their own timers.
    this.#server = loadHttp().createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 });
    this.#server.on('request', (request, response) =>
      this.#takers.get(request.socket)?.(createExchange(request, response)),
    );
  }

  serve(socket: Socket, onExchange: (exchange: HttpExchange) => void): HttpExchanges {
    this.#takers.set(socket, onExchange);
    this.#server.emit('connection', socket);
    return { end: () => socket.end() };
  }
}

function createExchange(request: IncomingMessage, response: ServerResponse): HttpExchange {
  response.on('error', () => {});
  return {
    head: {
      method: request.method ?? '',
      target: request.url ?? '',
      contentType: request.headers['content-type'],
    },
    body: request,
    respond(status, fields, body, isLast) {
      // A body that nobody reads would stay in front of the next request.
      request.resume();
      response.writeHead(status, { ...fields, ...(isLast && { connection: 'close' }) });
      response.end(body);
    },
    onClose: (run) => void response.once('close', run),
  };
}
