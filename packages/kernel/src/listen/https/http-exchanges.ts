/**
 * One client's connection as a row of HTTP exchanges: HTTP/2 (RFC 9113) or HTTP/1.1 (RFC 9112), as the client has chosen.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { serveHttp2Streams } from '../exchanges/http2-session.ts';
import { type ConnectionExchanges, type ServedExchange, watchClose } from '../exchanges/served-exchange.ts';
import type { RequestHead } from './dns-request.ts';

/** Loaded when first used: most servers have no HTTPS. */
const loadHttp = () => process.getBuiltinModule('node:http');

export interface HttpExchange extends ServedExchange {
  readonly head: RequestHead;
  readonly body: Readable;
  /** @param isLast whether the connection ends with it */
  respond(
    status: number,
    headers: Readonly<Record<string, string | number>>,
    body: Uint8Array,
    isLast: boolean,
  ): void;
}

/** @param maxOpen requests of a connection in progress at the same time */
export function serveHttp2(
  socket: Socket,
  maxOpen: number,
  onExchange: (exchange: HttpExchange) => void,
): ConnectionExchanges {
  return serveHttp2Streams(socket, maxOpen, (stream, headers) =>
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
      onClose: watchClose(stream),
    }),
  );
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

  serve(socket: Socket, onExchange: (exchange: HttpExchange) => void): ConnectionExchanges {
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
    onClose: watchClose(response),
  };
}
