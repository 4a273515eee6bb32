/**
 * The server's side of HTTP/2 (RFC 9113) on an open connection.
 */
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';

/** Loaded when first used: most servers have no listeners of HTTP/2. */
const loadHttp2 = () => process.getBuiltinModule('node:http2');

/** Requests in progress for which a session may use a megabyte. */
const STREAMS_PER_MEGABYTE = 100;

/** @param maxOpen requests of a connection in progress at the same time */
export function openHttp2(socket: Socket, maxOpen: number): ServerHttp2Session {
  // Requests end by themselves: who closes the connection does not wait for answers.
  socket.allowHalfOpen = false;
  const session = loadHttp2().performServerHandshake(socket, {
    settings: { maxConcurrentStreams: maxOpen, enablePush: false },
    maxSessionMemory: Math.ceil(maxOpen / STREAMS_PER_MEGABYTE),
  });
  session.on('error', () => {});
  return session;
}
