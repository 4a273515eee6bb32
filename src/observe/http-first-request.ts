/**
 * The first request of an HTTP connection, looked at before Node's HTTP parser: a connection that sends several requests at once
 * is closed for the price of one look, where the parser makes objects of each of them.
 *
 * No probe and no scraper sends a request before it has the answer to the one before; a flood of connections does, and each of
 * them would hold the main thread for a millisecond.
 */
import type { Socket } from 'node:net';

/** What may be read before the end of a request's header, in octets: as much as Node's parser takes. */
const MAX_HEADER_OCTETS = 16_384;

const END_OF_HEADER = Buffer.from('\r\n\r\n');

/** What became of the octets that a connection has sent first. */
export type FirstRequest = 'complete' | 'pipelined' | 'too large';

/**
 * Reads until the header of the first request is complete, and puts what was read back for the next reader.
 *
 * A request with a body is left to the parser, which tells its body from another request.
 *
 * @param settle called once, unless the connection is closed before
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

/** Whether these are the only methods that are answered, none of which has a body. */
function hasNoBody(request: Buffer): boolean {
  return request.indexOf('GET ') === 0 || request.indexOf('HEAD ') === 0;
}
