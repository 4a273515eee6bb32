/**
 * The client's end of the control socket.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { showAbstractName } from '@portolan/kernel/socket/abstract-name.ts';
import { findPeer, isInOwnPidNamespace, ROOT } from '@portolan/kernel/socket/peer.ts';
import { addressOfPlace, describePlace, type OpenPlace, placesToAsk } from './control-place.ts';
import { type ControlRequest, ProtocolError, readReply, writeRequest } from './protocol.ts';

/** No server can be asked. */
export class NoServerError extends Error {
  override readonly name = 'NoServerError';
}

/** The server did not carry out the request; its reason. */
export class RequestFailedError extends Error {
  override readonly name = 'RequestFailedError';
}

/**
 * Sends a request to the server at a place, and yields its data.
 *
 * @param given the path of the socket, or `@` and its abstract name; undefined: that of the only server in this container
 * @param signal ends the request early, without an error
 * @throws NoServerError, RequestFailedError, ProtocolError
 */
export async function* requestControl(
  given: string | undefined,
  request: ControlRequest,
  signal?: AbortSignal,
): AsyncIterable<unknown> {
  const socket = await connectTo(given);
  const end = () => void socket.destroy();
  signal?.addEventListener('abort', end);
  try {
    if (signal?.aborted === true) return;
    socket.write(writeRequest(request));
    for await (const line of readLines(socket)) {
      const reply = readReply(line);
      if (reply.kind === 'done') return;
      if (reply.kind === 'failed') throw new RequestFailedError(reply.reason);
      yield reply.data;
    }
    throw new ProtocolError(CLOSED_EARLY);
  } catch (error) {
    if (signal?.aborted !== true) throw isOfSystem(error) ? new ProtocolError(CLOSED_EARLY) : error;
  } finally {
    signal?.removeEventListener('abort', end);
    socket.destroy();
  }
}

const CLOSED_EARLY = 'the server closed the connection before the end of its reply. See its log.';

/** A reset, or a closed pipe: the server ended, or refused the request before it was read. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

async function connectTo(given: string | undefined): Promise<Socket> {
  const places = placesToAsk(given).filter((place) => place.kind !== 'none');
  const open: { readonly place: OpenPlace; readonly socket: Socket }[] = [];
  let reason = '';
  for (const place of places) {
    const socket = connect(addressOfPlace(place));
    // The server may end at any time, also while nothing is read: the reader learns it from the state of the socket.
    socket.on('error', () => {});
    try {
      await once(socket, 'connect');
      if (!isTrusted(socket, place))
        throw new Error('it belongs to another user. Run this as that user, or as root');
      open.push({ place, socket });
    } catch (error) {
      socket.destroy();
      const message = describeError(error);
      reason = `: ${describePlace(place)}: ${showAbstractName(message)}`;
    }
  }
  const [first, ...others] = open;
  if (first === undefined)
    throw new NoServerError(
      `no server found${reason}. Run this in the container of the server, or name its socket with --socket.`,
    );
  if (others.length === 0) return first.socket;
  const addresses = await Promise.all(open.map(({ socket }) => findAddresses(socket)));
  const list = open.map(
    ({ place }, index) => `\n  --socket=${describePlace(place)}${addresses[index] ?? ''}`,
  );
  throw new NoServerError(`several servers found. Name one:${list.join('')}`);
}

const STATUS_MILLISECONDS = 1_000;

/** Where a server listens, to tell it from others; nothing if it does not say so in time. */
async function findAddresses(socket: Socket): Promise<string> {
  const end = setTimeout(() => socket.destroy(), STATUS_MILLISECONDS);
  try {
    socket.write(writeRequest({ verb: 'status', words: [] }));
    for await (const line of readLines(socket)) {
      const reply = readReply(line);
      const { addresses = [] } =
        reply.kind === 'data' ? (reply.data as { addresses?: readonly string[] }) : {};
      return addresses.length === 0 ? '' : `  on ${addresses.join(' ')}`;
    }
  } catch {
    // It ended, or is of another version.
  } finally {
    clearTimeout(end);
    socket.destroy();
  }
  return '';
}

/**
 * Whether the server is of our user, or of root. Root also asks the servers of others: where the rights of a file protect the place, or in
 * its own PID namespace. Any process of the network namespace could take an abstract name.
 */
function isTrusted(socket: Socket, { kind }: OpenPlace): boolean {
  const own = process.geteuid?.();
  const peer = findPeer(socket);
  if (peer === undefined) return kind === 'file';
  if (peer.user === own || peer.user === ROOT) return true;
  return own === ROOT && (kind === 'file' || isInOwnPidNamespace(peer));
}

async function* readLines(socket: Socket): AsyncIterable<string> {
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) {
    text += String(chunk);
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
}
