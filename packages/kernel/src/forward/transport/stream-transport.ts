/**
 * Queries over TCP (RFC 7766) or TLS (RFC 7858), on connections that are kept open and shared.
 *
 * A server may close a connection with queries in flight: when it was idle, after some queries, or because it takes one
 * at a time. These queries are sent again at once, on new connections (RFC 7766 section 6.2.4). `PipelineDepth` learns how
 * many queries a connection takes; a server that takes one gets many connections.
 *
 * A connection with an overdue query that has been silent since gets no more queries: it may be half open, which TCP
 * would report only after minutes.
 */
import { connect } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { SocketAddress } from '../../socket/addresses.ts';
import { PipelineDepth, type TimedReply } from './pipeline-depth.ts';
import type { QueryMessage } from './query-message.ts';
import {
  type ClosedConnection,
  type ConnectionQuery,
  UpstreamConnection,
  type UpstreamConnectionEvents,
} from './stream-connection.ts';
import { StreamTrial } from './stream-trial.ts';
import { continueBy } from './taken-over-exchange.ts';
import { openTls, type TlsPeer, type TlsSessions, toConnectOptions } from './tls-socket.ts';
import {
  type DirectServer,
  type DroppedPackets,
  type Exchange,
  type ExchangeEvents,
  findLeastLoaded,
  type StreamTerms,
  type Transport,
} from './transport.ts';

/** Defaults: idle for 10 s, 30 s with TLS, of any age, one connection at first, and 4 that are kept. */
export interface StreamTransportOptions extends Partial<StreamTerms> {
  readonly peer: SocketAddress;
  readonly sourceAddress: string | undefined;
  readonly tls: TlsPeer | undefined;
  readonly clock: Clock;
}

interface StreamQuery extends ConnectionQuery {
  readonly askedAt: number;
  /** How often it was sent. */
  sends: number;
  /** It was lost with a connection: connections opened before this time do not get it. */
  lostAt: number;
  connection: SharedConnection | undefined;
}

type SharedConnection = UpstreamConnection<StreamQuery>;

/** The most connections to a server: one that answers one query at a time on each needs many. A handshake of TLS costs us a millisecond. */
const MAX_CONNECTIONS = { tcp: 64, tls: 16 } as const;
/** Idle connections that are kept to a server that takes many queries on each. */
const MAX_KEPT = 4;
/** How often a query is sent: alone on a new connection, and in all. */
const MAX_SENDS_ALONE = 2;
const MAX_SENDS = 5;
/** Queries that were lost together are spread: this many on one new connection. */
const MAX_REPEATED = 8;
/** Milliseconds for which a server is believed to accept no more connections. */
const LIMIT_LIFETIME = 2000;
const IDLE_MILLISECONDS = { tcp: 10_000, tls: 30_000 } as const;

export class StreamTransport implements Transport {
  readonly isReliable = true;
  readonly dropped: DroppedPackets = { strange: 0, otherQuestion: 0, otherCase: 0 };
  readonly #options: StreamTransportOptions;
  readonly #depth = new PipelineDepth();
  #connections: SharedConnection[] = [];
  readonly #leaving = new Set<SharedConnection>();
  /** Queries without a connection, the oldest first. */
  readonly #waiting = new Set<StreamQuery>();
  #trial: StreamTrial | undefined;
  #limit = Number.POSITIVE_INFINITY;
  #limitedUntil = 0;
  #direct: DirectServer | undefined;
  readonly #sessions: TlsSessions = { last: undefined };

  constructor(options: StreamTransportOptions) {
    this.#options = options;
  }

  /** Without TLS, other threads may open connections of their own, as deep as ours have shown. */
  get direct(): DirectServer | undefined {
    const { tls, sourceAddress, peer, clock, idle = IDLE_MILLISECONDS.tcp, maxAge = 0 } = this.#options;
    if (tls !== undefined || sourceAddress !== undefined) return undefined;
    const { minConnections = 1, maxConnections = MAX_KEPT } = this.#options;
    const depth = toDirectDepth(this.#depth.depth);
    const maxQueries = this.#depth.maxQueries(clock.monotonic());
    const known = this.#direct?.stream;
    if (known?.depth !== depth || known.maxQueries !== maxQueries)
      this.#direct = {
        peer,
        stream: { idle, maxAge, minConnections, maxConnections, depth, maxQueries },
        takeOver: continueBy({ ask: (...asked) => this.#askAgain(...asked) }),
      };
    return this.#direct;
  }

  ask(query: QueryMessage, events: ExchangeEvents): Exchange {
    const askedAt = this.#options.clock.monotonic();
    const entry: StreamQuery = {
      query,
      events,
      askedAt,
      sends: 0,
      lostAt: Number.NEGATIVE_INFINITY,
      connection: undefined,
      id: 0,
      sentAt: askedAt,
      order: 0,
      isBehind: false,
    };
    this.#send(entry);
    return { overdue: () => this.#overdue(entry), cancel: () => this.#cancel(entry) };
  }

  close(): void {
    for (const connection of [...this.#connections, ...this.#leaving]) connection.destroy();
    this.#trial?.end();
    this.#connections = [];
    this.#leaving.clear();
    this.#waiting.clear();
  }

  /** Another thread has lost the query with its connection. */
  #askAgain(query: QueryMessage, events: ExchangeEvents): Exchange {
    this.#depth.noteLostElsewhere();
    return this.ask(query, events);
  }

  #send(entry: StreamQuery): void {
    if (!this.#sendNow(entry)) this.#waiting.add(entry);
  }

  /** Sends a query if there is room. */
  #sendNow(entry: StreamQuery): boolean {
    const connection = this.#pickConnection(entry);
    if (connection === undefined) return false;
    entry.connection = connection;
    entry.sends += 1;
    if (!connection.ask(entry)) entry.events.failed('no free message id');
    return true;
  }

  /** Sends queries that waited for room. */
  #sendWaiting(): void {
    for (const entry of this.#waiting) {
      if (!this.#sendNow(entry)) return;
      this.#waiting.delete(entry);
    }
  }

  #overdue({ connection, askedAt }: StreamQuery): void {
    if (connection === undefined || connection.lastHeard >= askedAt) return;
    this.#abandon(connection);
    this.#sendWaiting();
  }

  #cancel(entry: StreamQuery): void {
    const { connection } = entry;
    this.#waiting.delete(entry);
    entry.connection = undefined;
    if (connection === undefined) return;
    // The server may still work on it, so another query would not be alone.
    if (this.#depth.depth === 1) this.#abandon(connection);
    connection.forget(entry);
    if (connection.load === 0) this.#leaving.delete(connection);
    this.#sendWaiting();
  }

  #abandon(connection: SharedConnection): void {
    this.#connections = this.#connections.filter((other) => other !== connection);
    if (connection.load > 0) this.#leaving.add(connection);
    connection.leave();
  }

  /** The connection for a query; undefined: it must wait for room. */
  #pickConnection(entry: StreamQuery): SharedConnection | undefined {
    const now = this.#options.clock.monotonic();
    const usable = this.#usable(now);
    const max = this.#maxConnections(now);
    const mayOpen = usable.length < max && usable.length + this.#leaving.size < 2 * max;
    const isLost = entry.sends > 0 && mayOpen;
    const suitable = isLost ? usable.filter(({ openedAt }) => openedAt > entry.lostAt) : usable;
    const { minConnections = 1 } = this.#options;
    const room = mayOpen && usable.length < minConnections ? 1 : this.#roomFor(entry);
    // More than are kept get queries only while those are full, and so become idle.
    const best = findLeastLoaded(suitable, 0, this.#maxKept);
    if (best === undefined || best.load < room) return best ?? this.#openNext();
    const other = findLeastLoaded(suitable, this.#maxKept);
    if (other !== undefined && other.load < room) return other;
    if (this.#depth.takeTrial(now)) this.#try(entry.query);
    return mayOpen ? this.#openNext() : undefined;
  }

  #openNext(): SharedConnection {
    const opened = this.#open();
    this.#connections.push(opened);
    return opened;
  }

  /** Queries in flight on a connection that gets this one. */
  #roomFor({ sends }: StreamQuery): number {
    const { depth } = this.#depth;
    if (sends === 0) return depth;
    return sends === 1 ? Math.min(depth, MAX_REPEATED) : 1;
  }

  /** The connections that take queries. */
  #usable(now: number): readonly SharedConnection[] {
    const { maxAge = 0 } = this.#options;
    const maxQueries = this.#depth.maxQueries(now);
    for (const connection of this.#connections) {
      const isOld = maxAge > 0 && now - connection.openedAt > maxAge;
      if (isOld || connection.sent >= maxQueries || !connection.takesQueries) this.#abandon(connection);
    }
    return this.#connections;
  }

  #maxConnections(now: number): number {
    const max = MAX_CONNECTIONS[this.#options.tls === undefined ? 'tcp' : 'tls'];
    return now < this.#limitedUntil ? Math.min(max, this.#limit) : max;
  }

  /** The idle connections that are kept. */
  get #maxKept(): number {
    const { maxConnections } = this.#options;
    if (this.#depth.depth > 1) return Math.min(maxConnections ?? MAX_KEPT, MAX_KEPT);
    return maxConnections ?? MAX_CONNECTIONS.tcp;
  }

  #try(query: QueryMessage): void {
    const { clock } = this.#options;
    const open = (events: UpstreamConnectionEvents<ConnectionQuery>) => this.#openWith(events);
    this.#trial?.end();
    this.#trial = new StreamTrial(query, clock, open, (first, gap) => {
      this.#depth.noteTrial(first, gap);
      this.#sendWaiting();
    });
  }

  #open(): SharedConnection {
    const connection: SharedConnection = this.#openWith({
      replied: (reply) => this.#replied(connection, reply),
      closed: (closed) => this.#closed(connection, closed),
    });
    return connection;
  }

  #openWith<Entry extends ConnectionQuery>(
    events: UpstreamConnectionEvents<Entry>,
  ): UpstreamConnection<Entry> {
    const { tls, clock, idle = IDLE_MILLISECONDS[tls === undefined ? 'tcp' : 'tls'] } = this.#options;
    const place = toConnectOptions(this.#options);
    const socket = tls === undefined ? connect(place) : openTls(place, tls, this.#sessions);
    const readyEvent = tls === undefined ? 'connect' : 'secureConnect';
    return new UpstreamConnection<Entry>(socket, readyEvent, this.dropped, clock, idle, events);
  }

  #replied(connection: SharedConnection, reply: TimedReply): void {
    this.#depth.noteReply(reply);
    if (this.#waiting.size > 0) this.#sendWaiting();
    if (connection.load === 0 && this.#connections.length > this.#maxKept) this.#abandon(connection);
  }

  #closed(
    connection: SharedConnection,
    { code, unanswered, answered, idle, wasReady, isByServer }: ClosedConnection<StreamQuery>,
  ): void {
    const now = this.#options.clock.monotonic();
    this.#connections = this.#connections.filter((other) => other !== connection);
    this.#leaving.delete(connection);
    if (!wasReady) this.#sessions.last = undefined;
    if (unanswered.length > 0 && wasReady && isByServer) this.#depth.noteClosed(answered, idle, now);
    const isLimited = answered === 0 && this.#noteLimit(now);
    const isAlone = answered === 0 && unanswered.length === 1;
    const maxSends = isLimited || (wasReady && !isAlone) ? MAX_SENDS : wasReady ? MAX_SENDS_ALONE : 0;
    for (const entry of unanswered) {
      entry.connection = undefined;
      entry.lostAt = isLimited ? entry.lostAt : now;
      if (entry.sends < maxSends) this.#send(entry);
      else entry.events.failed(code);
    }
    this.#sendWaiting();
  }

  /** A connection was refused, or closed before its first reply. @returns whether others work: then the server takes no more than those */
  #noteLimit(now: number): boolean {
    const working = this.#connections.filter(({ isReady, answered }) => isReady && answered > 0).length;
    if (working === 0) return false;
    this.#limit = working;
    this.#limitedUntil = now + LIMIT_LIFETIME;
    return true;
  }
}

/** Few steps: each is posted to all threads. */
function toDirectDepth(depth: number): number {
  if (depth >= 64) return 64;
  return depth >= 8 ? 8 : 1;
}
