/**
 * Checks the first request of an HTTP connection before Node's HTTP parser does. A connection that sends several requests at once is
 * closed after this cheap check, while the parser would create objects for each request.
 *
 * Probes and scrapers wait for each response before the next request. Floods of connections do not, and each one would occupy the
 * main thread for a millisecond.
 */
import type { Socket } from 'node:net';

/** The maximum octets of a request header, as in Node's parser. */
const MAX_HEADER_OCTETS = 16_384;

const END_OF_HEADER = Buffer.from('\r\n\r\n');

/** The result of checking the first octets of a connection. */
export type FirstRequest = 'complete' | 'pipelined' | 'too large';

/**
 * Reads until the header of the first request is complete, and puts the data back for the next reader.
 *
 * A request with a body is left to the parser, which separates the body from a further request.
 *
 * @param settle called once, unless the connection closes first
 */
export function readFirstRequest(socket: Socket, settle: (found: FirstRequest) => void): void {
  let received: Buffer | undefined;
  const read = (chunk: Buffer) => {
    received = received === undefined ? chunk : Buffer.concat([received, chunk]);
    const end = received.indexOf(END_OF_HEADER);
    if (end < 0 && received.length <= MAX_HEADER_OCTETS) return;
    socket.off('data', read);
    if (end < 0) return settle('too large');
    if (received.length > end + END_OF_HEADER.length && hasNoBody(received)) return settle('pipelined');
    socket.pause();
    socket.unshift(received);
    settle('complete');
  };
  socket.on('data', read);
}

/** Whether the method is GET or HEAD, the only ones that are answered; these have no body. */
function hasNoBody(request: Buffer): boolean {
  return request.indexOf('GET ') === 0 || request.indexOf('HEAD ') === 0;
}
