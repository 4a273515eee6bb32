/**
 * The options and results that both kinds of UDP listeners share: batches and datagrams.
 */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { HandleQuery } from '../chain/query.ts';
import type { SocketAddress } from '../socket/addresses.ts';
import type { SharedClientRules } from './client-rules.ts';
import type { QueryEventRings } from './query-events/event-rings.ts';
import type { QueryTimeouts } from './query-timeouts.ts';
import type { ReaderCounters } from './reader-counters.ts';
import type { SlowQuestionCounts } from './slow-path-queue.ts';
import type { ListenAddress } from './types.ts';

/** Default maximum of unanswered slow questions. */
export const MAX_UNANSWERED = 10_000;

/** The options that all UDP listeners share. */
export interface UdpBasics {
  /** At least one. Port 0 picks a free one. */
  readonly addresses: readonly ListenAddress[];
  readonly handleQuery: HandleQuery;
  /** The server's own maximum for answers, in octets. Configuration default: 1232. */
  readonly udpSize: number;
  /** Where to write the events of answered queries; undefined: nowhere. */
  readonly events?: QueryEventRings | undefined;
  /** Default: `DEFAULT_QUERY_TIMEOUTS`. */
  readonly timeouts?: QueryTimeouts | undefined;
  /** What clients may do; undefined: everything. */
  readonly clientRules?: SharedClientRules | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface UdpCounts {
  /** One per reader thread; without reader threads, one for the main thread. */
  readonly readers: readonly ReaderCounters[];
  /** Readers without a receiving thread: it died, and its successor has not started yet. */
  readonly down: number;
  /** Reader threads that died and were replaced. */
  readonly restarts: number;
  /** Packets that the kernel dropped because a socket's queue was full; always 0 where unknown. */
  readonly kernelDrops: number;
  readonly slow: SlowQuestionCounts;
}

export interface UdpListener {
  /** The addresses served, with the ports that the kernel chose. */
  readonly endpoints: readonly SocketAddress[];
  count(): UdpCounts;
  /**
   * Leaves the port without losing received queries, or queries that other sockets of the port could answer. It accepts
   * no new ones, answers the queued ones, waits for slow answers at most this long, and closes the sockets.
   */
  stop(graceMilliseconds: number): Promise<void>;
}
