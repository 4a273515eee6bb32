/**
 * Carries a query to one server and its reply back. It has no time-outs of its own: it waits until it is cancelled.
 */
import type { Message } from '@portolan/dns/types.ts';
import type { SocketAddress } from '../../socket/addresses.ts';
import type { QueryMessage } from './query-message.ts';

/** Packets that do not answer any query, by the reason. */
export interface DroppedPackets {
  /** Its id is not in use, it is not a response, or its content shows that it is forged. */
  strange: number;
  /** Its id is in use, but it has another question: a forger's guess. */
  otherQuestion: number;
  /** It has the name in another case than was sent: a forger's guess, or a server that does not preserve the case. */
  otherCase: number;
}

export interface ExchangeEvents {
  /**
   * Called once, unless `failed` was called or the exchange was cancelled.
   *
   * @param reply a raw one is lent until the callback returns
   * @param octets of the packet; undefined if the transport does not report it
   */
  replied(reply: Message, octets?: number): void;
  /** The server has sent a packet that is not yet the reply: it is alive, and the reply takes another round trip or two. */
  heard(): void;
  /** The query will not be answered. @param code the network's error, such as `ECONNREFUSED`, or `malformed` */
  failed(code: string): void;
}

export interface Exchange {
  /** The server has exceeded its time. The wait continues, but later queries should avoid this connection. */
  overdue(): void;
  /** Stops waiting. */
  cancel(): void;
}

export type TransportProtocol = 'udp' | 'tcp';

/** How connections to a server are kept. Times in milliseconds. */
export interface StreamTerms {
  /** For which an idle connection is kept. */
  readonly idle: number;
  /** After which a connection accepts no more queries, however busy it is; 0: never. */
  readonly maxAge: number;
  /** Connections to spread simultaneous queries over, 1 to 4. */
  readonly minConnections: number;
  /** The idle ones to keep; at most 4 to a server that takes many queries on each. */
  readonly maxConnections: number;
}

/** How other threads may use connections of their own to a server. */
export interface DirectStream extends StreamTerms {
  /** Queries in flight on one connection, from 1. */
  readonly depth: number;
  /** Queries on one connection in all; infinite: no bound is known. */
  readonly maxQueries: number;
}

/** A server that any socket may query, so that other threads can query it too. */
export interface DirectServer {
  readonly peer: SocketAddress;
  /** How to query it over TCP; undefined: use UDP. */
  readonly stream: DirectStream | undefined;
  /** Continues with a query that another thread has sent: call the exchange with its result. */
  takeOver(
    query: QueryMessage,
    events: ExchangeEvents,
  ): Exchange & Pick<ExchangeEvents, 'replied' | 'failed'>;
}

export interface Transport {
  /** Undefined: the server must only be queried through this transport. */
  readonly direct?: DirectServer | undefined;
  /** Whether a lower layer repeats lost packets, so that queries need no repeat. */
  readonly isReliable?: boolean;
  /** Sends a query. Events may come before it returns. */
  ask(query: QueryMessage, events: ExchangeEvents): Exchange;
  readonly dropped: Readonly<DroppedPackets>;
  /** Ends all exchanges without events. */
  close(): void;
}

/** The code of a connection that has ended without an error of the network. */
export const CONNECTION_CLOSED = 'connection closed';
/** The codes of a connection that was open, and has ended. */
export const CONNECTION_LOSSES: ReadonlySet<string> = new Set([CONNECTION_CLOSED, 'ECONNRESET', 'EPIPE']);

/** The code of a network error, such as `ECONNREFUSED`. */
export function toErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}

/** The connection with the fewest queries in flight. @param from only those from this place @param to before that one */
export function findLeastLoaded<Connection extends { readonly load: number }>(
  connections: readonly Connection[],
  from = 0,
  to = connections.length,
): Connection | undefined {
  let best: Connection | undefined;
  for (let place = from; place < to && place < connections.length; place += 1) {
    const connection = connections[place];
    if (connection !== undefined && connection.load < (best?.load ?? Number.POSITIVE_INFINITY))
      best = connection;
  }
  return best;
}
