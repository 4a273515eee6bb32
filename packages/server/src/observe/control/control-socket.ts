/**
 * The server's end of the control socket. One request per connection; only processes of the server's own user, and of root, are answered.
 *
 * All processes of a network namespace share abstract names, and `nobody` or root are users of many. So over such a name, a request that
 * changes the server must come from its own PID namespace: from the same container, or from the same machine without containers.
 */
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { showAbstractName } from '@portolan/kernel/socket/abstract-name.ts';
import { findPeer, isInOwnPidNamespace, type PeerProcess, ROOT } from '@portolan/kernel/socket/peer.ts';
import {
  addressOfPlace,
  type ControlPlace,
  createAbstractPlace,
  describePlace,
  type OpenPlace,
  RUN_FOLDER,
} from './control-place.ts';
import {
  type ControlReply,
  type ControlRequest,
  ProtocolError,
  readRequest,
  writeReply,
} from './protocol.ts';

/**
 * Carries out a request. Each value becomes a line of data; an error ends the reply with its message.
 *
 * @param signal aborted when the client has closed the connection
 */
export type CarryOut = (request: ControlRequest, signal: AbortSignal) => AsyncIterable<unknown>;

export class ControlSocketError extends Error {
  override readonly name = 'ControlSocketError';

  constructor(path: string, reason: string) {
    super(`cannot listen on the control socket: ${path}: ${reason}. Choose another with --control-socket.`);
  }
}

export interface ControlSocketOptions {
  readonly place: ControlPlace;
  /** The command of the server, for the abstract name. */
  readonly role: string;
  readonly carryOut: CarryOut;
  /** The peer; by default the kernel reports it. */
  readonly findPeer?: (socket: Socket) => PeerProcess | undefined;
  /** Whether a request changes the server. */
  readonly changes: (request: ControlRequest) => boolean;
  readonly log: Log;
}

/** Requests carry the objects of a namespace at most. */
const MAX_REQUEST_CHARACTERS = 16 * 2 ** 20;
const MAX_CONNECTIONS = 16;
/** Milliseconds for the request to arrive. */
const REQUEST_TIMEOUT = 5_000;
/** Octets that wait for a slow client until the verb waits for it. */
const MAX_WAITING = 256 * 1024;
/** Owner may read and write, which connecting requires. */
const OWNER_ONLY = 0o600;

export class ControlSocket {
  readonly #options: ControlSocketOptions;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  #place: OpenPlace | undefined;

  constructor(options: ControlSocketOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#serve(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Carries out a request as if it came over the socket. Works without a socket, too. */
  get carryOut(): CarryOut {
    return this.#options.carryOut;
  }

  /** Where it listens, as clients write it; undefined: nowhere. */
  get place(): string | undefined {
    return this.#place === undefined ? undefined : describePlace(this.#place);
  }

  /** Without a place that a flag names, a failure is only logged. @throws ControlSocketError */
  async start(): Promise<void> {
    const { place, role, log } = this.#options;
    if (place.kind === 'none') return;
    try {
      await this.#open(place);
      return;
    } catch (error) {
      if (place.kind === 'file' && !place.isDefault) throw error;
      const reason = showAbstractName(describeError(error));
      const other = place.kind === 'file' ? createAbstractPlace(role) : ({ kind: 'none' } as const);
      log.debug('control socket not opened', { reason });
      if (other.kind !== 'none') await this.#open(other).catch(() => {});
    }
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    for (const socket of this.#connections) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#place = undefined;
  }

  async #open(place: OpenPlace): Promise<void> {
    const path = describePlace(place);
    try {
      await this.#listen(place);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException; // Errors of `listen` are of this type.
      if (code !== 'EADDRINUSE' || place.kind === 'abstract')
        throw new ControlSocketError(path, String(code));
      if (await isAnswering(place.path)) throw new ControlSocketError(path, 'another process uses it');
      // A killed process leaves its socket file.
      rmSync(place.path);
      await this.#listen(place);
    }
    if (place.kind === 'file') chmodSync(place.path, place.mode ?? OWNER_ONLY);
    this.#place = place;
    // The server ends even if a client stays connected.
    this.#server.unref();
  }

  #listen(place: OpenPlace): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(addressOfPlace(place), () => {
        this.#server.off('error', reject);
        // For example too many open files: the next request may succeed.
        this.#server.on('error', ({ message }) =>
          this.#options.log.debug('control socket failed', { reason: showAbstractName(message) }),
        );
        resolve();
      });
    });
  }

  #serve(socket: Socket): void {
    this.#connections.add(socket);
    socket.unref().on('error', () => {});
    socket.on('close', () => this.#connections.delete(socket));
    const { findPeer: find = findPeer } = this.#options;
    const peer = find(socket);
    if (!this.#isOurs(peer)) {
      this.#options.log.warn('control request refused', { reason: 'a process of another user sent it' });
      refuse(socket);
      return;
    }
    const chunks: string[] = [];
    let characters = 0;
    socket.setEncoding('utf8').setTimeout(REQUEST_TIMEOUT, () => socket.destroy());
    const take = (chunk: string) => {
      const end = chunk.indexOf('\n');
      chunks.push(end < 0 ? chunk : chunk.slice(0, end));
      characters += chunk.length;
      if (end < 0) {
        if (characters > MAX_REQUEST_CHARACTERS) socket.destroy();
        return;
      }
      socket.off('data', take).setTimeout(0).resume();
      void this.#answer(socket, peer, chunks.join(''));
    };
    socket.on('data', take);
  }

  /** The rights of a file protect it where the system does not report the peer; a name has no rights. */
  #isOurs(peer: PeerProcess | undefined): boolean {
    if (peer === undefined) return this.#place?.kind === 'file';
    return peer.user === process.geteuid?.() || peer.user === ROOT;
  }

  /** @throws Error for a change that a process of another container asks for */
  #check(request: ControlRequest, peer: PeerProcess | undefined): void {
    if (this.#place?.kind === 'file' || !this.#options.changes(request)) return;
    if (peer !== undefined && isInOwnPidNamespace(peer)) return;
    this.#options.log.warn('control request refused', {
      verb: request.verb,
      reason: 'a process of another PID namespace sent it',
    });
    throw new Error(
      `not from another PID namespace: ${request.verb}. Run it in the container of the server, or mount an emptyDir at ${RUN_FOLDER}.`,
    );
  }

  async #answer(socket: Socket, peer: PeerProcess | undefined, line: string): Promise<void> {
    const closing = new AbortController();
    socket.on('close', () => closing.abort());
    const replies = new ReplyLines(socket);
    let verb = '';
    try {
      const request = readRequest(line);
      verb = request.verb;
      this.#check(request, peer);
      for await (const data of this.#options.carryOut(request, closing.signal)) {
        await replies.write({ kind: 'data', data });
        if (closing.signal.aborted) return;
      }
      await replies.write({ kind: 'done' });
      this.#options.log.debug('control request answered', { verb });
    } catch (error) {
      const reason = describeError(error);
      this.#options.log.debug('control request failed', {
        verb: error instanceof ProtocolError ? undefined : verb,
        reason,
      });
      await replies.write({ kind: 'failed', reason });
    }
    socket.end();
  }
}

/** Says why, and reads what has been sent: unread octets would make it a reset, and the reason would be lost. */
function refuse(socket: Socket): void {
  const reason = 'the server belongs to another user. Run this as that user, or as root.';
  socket.resume().setTimeout(REQUEST_TIMEOUT, () => socket.destroy());
  socket.end(writeReply({ kind: 'failed', reason }));
}

/** Writes replies, and waits for a slow client. */
class ReplyLines {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  async write(reply: ControlReply): Promise<void> {
    const socket = this.#socket;
    if (socket.destroyed) return;
    socket.write(writeReply(reply));
    if (socket.writableLength < MAX_WAITING) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        socket.off('drain', go).off('close', go);
        resolve();
      };
      socket.on('drain', go).on('close', go);
    });
  }
}

function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
