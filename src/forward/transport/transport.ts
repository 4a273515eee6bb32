/**
 * Carries a query to one server and its reply back. Time-outs are decided elsewhere: it waits until it is cancelled.
 */
import type { SocketAddress } from '../../socket/addresses.ts';
import type { QueryMessage } from './query-message.ts';
import type { UpstreamReply } from './upstream-reply.ts';

/** Packets that were no reply to anything asked, by what was wrong with them. */
export interface DroppedPackets {
  /** No query under way has this id, it is no response at all, or it is known to be forged by what it says. */
  strange: number;
  /** The id is known, but it repeats another question: a forger's guess. */
  otherQuestion: number;
  /** It repeats the name in another case than was sent: a forger's guess, or a server that does not keep the case. */
  otherCase: number;
}

export interface ExchangeEvents {
  /**
   * Called once, unless `failed` was or the exchange was cancelled.
   *
   * @param reply a raw one is lent until this returns
   * @param octets those of the packet; undefined where a transport does not say
   */
  replied(reply: UpstreamReply, octets?: number): void;
  /** The server has sent something that is not yet the reply: it is alive, and the reply takes another round trip or two. */
  heard(): void;
  /** The query will not be answered. @param code what the network said, `ECONNREFUSED`, or `malformed` */
  failed(code: string): void;
}

export interface Exchange {
  /** The server has not replied in its time. The wait goes on, but what is asked next had better take another way. */
  overdue(): void;
  /** Stops waiting. */
  cancel(): void;
}

/** How connections to a server are kept. Times in milliseconds. */
export interface StreamTerms {
  /** For which a quiet connection is kept. */
  readonly idle: number;
  /** After which a connection takes no more queries; 0: never. */
  readonly maxAge: number;
  /** Connections over which queries that are under way at once are spread, and that are kept at most. */
  readonly minConnections: number;
  readonly maxConnections: number;
}

/** A server that may be asked from any socket, so that other threads can ask it too. */
export interface DirectServer {
  readonly peer: SocketAddress;
  /** How it is asked over TCP; undefined: it is asked over UDP. */
  readonly stream: StreamTerms | undefined;
  /** Goes on with a query that another thread has sent: what comes of it is told to the exchange. */
  takeOver(
    query: QueryMessage,
    events: ExchangeEvents,
  ): Exchange & Pick<ExchangeEvents, 'replied' | 'failed'>;
}

export interface Transport {
  /** Undefined: only this transport reaches the server as it is to be reached. */
  readonly direct?: DirectServer | undefined;
  /** Whether what is lost is sent again below, so that a query need not be. */
  readonly isReliable?: boolean;
  /** Sends a query. Events may come before this returns. */
  ask(query: QueryMessage, events: ExchangeEvents): Exchange;
  readonly dropped: Readonly<DroppedPackets>;
  /** Ends all exchanges without a word. */
  close(): void;
}

/** What an error of the network says in a word, `ECONNREFUSED`. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
