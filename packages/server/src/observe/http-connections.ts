/**
 * Limits the connections of one HTTP port per client address and in total. A new connection is always accepted. At a limit it
 * replaces the connection that has waited longest for the rest of its request.
 *
 * So probes are answered no matter how many connections others hold open: a client that sends its request immediately outlives all
 * that wait. Connections being answered may take half of the places before the oldest of them is closed, because a client may refuse
 * to read.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { admitClient } from '@portolan/kernel/base/descriptors.ts';
import { readFirstRequest } from './http-first-request.ts';

export interface HttpConnectionLimits {
  /** The maximum of open connections per client address. */
  readonly perClient: number;
  /** The maximum of open connections in total. */
  readonly total: number;
  /** Milliseconds until the header of the first request must be complete, and those for the handshake before it. */
  readonly firstRequestTimeout: number;
}

/** Why a connection was closed before its request was answered. */
export const DROP_REASONS = ['client-limit', 'total-limit', 'timeout', 'pipelined', 'too-large'] as const;

export type DropReason = (typeof DROP_REASONS)[number];

/** Shakes hands on a connection. @param onSecure called once the client is welcome; otherwise the connection is closed */
export type Secure = (socket: Socket, onSecure: (secured: Socket) => void) => void;

export type DropCounts = Readonly<Record<DropReason, number>>;

interface HttpClientConnection {
  /** Over TLS: the encrypted one as soon as there is one. */
  socket: Socket;
  readonly client: HttpClient;
  isAnswering: boolean;
  /** Ends the wait for its first request, however slowly that comes. */
  deadline: Timer | undefined;
}

/** Connections by phase, each in the order in which they entered it. */
interface Phases {
  readonly waiting: Set<HttpClientConnection>;
  readonly answering: Set<HttpClientConnection>;
}

interface HttpClient extends Phases {
  readonly address: string;
}

export const NO_DROPS: DropCounts = {
  'client-limit': 0,
  'total-limit': 0,
  timeout: 0,
  pipelined: 0,
  'too-large': 0,
};

/** The sum of the drops of several ports. */
export function sumDrops(counts: readonly DropCounts[]): DropCounts {
  const sum = { ...NO_DROPS };
  for (const each of counts) for (const reason of DROP_REASONS) sum[reason] += each[reason];
  return sum;
}

/** Connections that stay open even if descriptors are short, so that probes are answered. */
const MIN_OPEN = 4;

const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n';

export class HttpConnections {
  readonly #limits: HttpConnectionLimits;
  readonly #clock: Clock;
  readonly #onDrop: (reason: DropReason, client: string) => void;
  readonly #connections = new Map<Socket, HttpClientConnection>();
  readonly #clients = new Map<string, HttpClient>();
  readonly #all: Phases = { waiting: new Set(), answering: new Set() };
  readonly #counts: Record<DropReason, number> = { ...NO_DROPS };
  /** Clients with new connections since the limits were last applied. */
  readonly #grown = new Set<HttpClient>();
  #isTrimPlanned = false;
  /** How many connections must be closed since then, as descriptors are short. */
  #excess = 0;

  /** @param onDrop called for each connection closed here or by {@link drop} */
  constructor(
    limits: HttpConnectionLimits,
    clock: Clock,
    onDrop: (reason: DropReason, client: string) => void,
  ) {
    this.#limits = limits;
    this.#clock = clock;
    this.#onDrop = onDrop;
  }

  /** Connections dropped since the start. */
  get drops(): DropCounts {
    return this.#counts;
  }

  get open(): number {
    return this.#connections.size;
  }

  /** Closes all connections immediately. */
  closeAll(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  /** Limits the connections of a server from now on. @param secure what encrypts a new connection; undefined: nothing does */
  watch(server: Server, secure: () => Secure | undefined = () => undefined): void {
    const listeners = server.listeners('connection') as ((socket: Socket) => void)[]; // Node's own listeners, which parse requests.
    server.removeAllListeners('connection');
    server.on('connection', (socket) => {
      const connection = this.#add(socket);
      if (connection === undefined) return;
      this.#secure(connection, secure(), (plain) =>
        this.#expectFirstRequest(connection, plain, () => {
          for (const parse of listeners) parse.call(server, plain);
        }),
      );
    });
    server.prependListener('request', (request, response) => this.#onRequest(request, response));
    server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
      const socket = stream as Socket; // The server has no other streams.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return this.drop(socket, 'timeout');
      if (socket.writable) socket.write(BAD_REQUEST);
      socket.destroy();
    });
    server.on('timeout', (socket) => {
      // Closing an idle kept-alive connection is not a drop.
      if (this.#connections.get(socket)?.isAnswering === true) this.drop(socket, 'timeout');
      else socket.destroy();
    });
  }

  /** @param proceed called with the connection that has the requests */
  #secure(
    connection: HttpClientConnection,
    secure: Secure | undefined,
    proceed: (plain: Socket) => void,
  ): void {
    const { socket } = connection;
    if (secure === undefined) {
      proceed(socket);
      return;
    }
    const ignore = () => {}; // A reset, or no handshake: `close` follows.
    socket.on('error', ignore);
    this.#setDeadline(connection);
    secure(socket, (secured) => {
      // It may have been dropped meanwhile.
      if (!this.#connections.delete(socket)) {
        secured.destroy();
        return;
      }
      connection.socket = secured;
      this.#connections.set(secured, connection);
      proceed(secured);
    });
  }

  /** Closes a connection whose first octets are not exactly one request; otherwise calls `parse`. */
  #expectFirstRequest(connection: HttpClientConnection, socket: Socket, parse: () => void): void {
    const ignore = () => {}; // A reset: `close` follows.
    socket.on('error', ignore);
    this.#setDeadline(connection);
    readFirstRequest(socket, (found) => {
      if (found === 'pipelined') return this.drop(socket, 'pipelined');
      if (found === 'too large') return this.drop(socket, 'too-large');
      connection.deadline?.cancel();
      socket.off('error', ignore);
      parse();
      socket.resume();
    });
  }

  #setDeadline(connection: HttpClientConnection): void {
    connection.deadline?.cancel();
    const { firstRequestTimeout } = this.#limits;
    connection.deadline = this.#clock.after(firstRequestTimeout, () =>
      this.drop(connection.socket, 'timeout'),
    );
  }

  /** Closes a connection and counts the reason. */
  drop(socket: Socket, reason: DropReason): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    this.#remove(connection);
    socket.destroy();
    this.#counts[reason] += 1;
    this.#onDrop(reason, connection.client.address);
  }

  /** @returns undefined if the connection no longer exists */
  #add(socket: Socket): HttpClientConnection | undefined {
    const address = socket.remoteAddress;
    // The client left before it was accepted.
    if (address === undefined) {
      socket.destroy();
      return undefined;
    }
    let client = this.#clients.get(address);
    if (client === undefined) {
      client = { address, waiting: new Set(), answering: new Set() };
      this.#clients.set(address, client);
    }
    const connection: HttpClientConnection = { socket, client, isAnswering: false, deadline: undefined };
    this.#connections.set(socket, connection);
    client.waiting.add(connection);
    this.#all.waiting.add(connection);
    socket.once('close', () => this.#remove(connection));
    this.#grown.add(client);
    if (admitClient(socket)) this.#excess += 1;
    this.#planTrim();
    return connection;
  }

  /**
   * Applies the limits after the next poll of all sockets. Of many connections accepted in one turn, those with complete requests are
   * then read and answered before the oldest are closed.
   */
  #planTrim(): void {
    if (this.#isTrimPlanned) return;
    this.#isTrimPlanned = true;
    setImmediate(() => setImmediate(() => this.#trim()));
  }

  #trim(): void {
    this.#isTrimPlanned = false;
    const { perClient, total } = this.#limits;
    for (const client of this.#grown)
      closeAbove(client, perClient, (each) => this.drop(each, 'client-limit'));
    this.#grown.clear();
    const room = this.open - this.#excess;
    this.#excess = 0;
    closeAbove(this.#all, Math.min(total, Math.max(MIN_OPEN, room)), (each) =>
      this.drop(each, 'total-limit'),
    );
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined) return;
    // Probes do not pipeline requests, and each pending request costs memory.
    if (connection.isAnswering) {
      this.drop(request.socket, 'pipelined');
      return;
    }
    this.#move(connection, true);
    response.once('close', () => this.#move(connection, false));
  }

  #move(connection: HttpClientConnection, isAnswering: boolean): void {
    if (!this.#connections.has(connection.socket)) return;
    connection.isAnswering = isAnswering;
    for (const { waiting, answering } of [connection.client, this.#all]) {
      const [from, to] = isAnswering ? [waiting, answering] : [answering, waiting];
      from.delete(connection);
      to.add(connection);
    }
  }

  #remove(connection: HttpClientConnection): void {
    const { socket, client } = connection;
    if (!this.#connections.delete(socket)) return;
    connection.deadline?.cancel();
    for (const { waiting, answering } of [client, this.#all]) {
      waiting.delete(connection);
      answering.delete(connection);
    }
    if (client.waiting.size + client.answering.size === 0) this.#clients.delete(client.address);
  }
}

/** Closes the oldest connections: answering ones while they take more than half of the places, otherwise waiting ones. */
function closeAbove({ waiting, answering }: Phases, limit: number, close: (socket: Socket) => void): void {
  while (waiting.size + answering.size > limit) {
    const from = answering.size > limit / 2 || waiting.size === 0 ? answering : waiting;
    for (const { socket } of from) {
      close(socket);
      break;
    }
  }
}
