/**
 * The server's side of HTTP/2 (RFC 9113) on an open connection.
 */
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { ConnectionExchanges } from './served-exchange.ts';

/** Loaded when first used: most servers have no listeners of HTTP/2. */
const loadHttp2 = () => process.getBuiltinModule('node:http2');

/** Requests in progress for which a session may use a megabyte. */
const STREAMS_PER_MEGABYTE = 100;

/**
 * @param maxOpen requests of a connection in progress at the same time
 * @param onRequest called with the stream of a request, and the headers that begin it
 */
export function serveHttp2Streams(
  socket: Socket,
  maxOpen: number,
  onRequest: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
): ConnectionExchanges {
  // Requests end by themselves: who closes the connection does not wait for answers.
  socket.allowHalfOpen = false;
  const session = loadHttp2().performServerHandshake(socket, {
    settings: { maxConcurrentStreams: maxOpen, enablePush: false },
    maxSessionMemory: Math.ceil(maxOpen / STREAMS_PER_MEGABYTE),
  });
  session.on('error', () => {});
  session.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    onRequest(stream, headers);
  });
  return { end: () => session.close() };
}
