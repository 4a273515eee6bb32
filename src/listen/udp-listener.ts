/**
 * What UDP listeners of both kinds, batches and datagrams, are asked for and give.
 */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { SocketAddress } from '../socket/addresses.ts';
import type { SharedClientRules } from './client-rules.ts';
import type { QueryEventRings } from './query-events/event-rings.ts';
import type { ReaderCounts } from './reader-counters.ts';
import type { SlowQuestionCounts } from './slow-path-queue.ts';
import type { HandleQuery, ListenAddress } from './types.ts';

/** Slow questions that may be unanswered at once, unless an option says otherwise. */
export const MAX_UNANSWERED = 10_000;

/** What every UDP listener needs. */
export interface UdpBasics {
  /** At least one. Port 0 takes a free one. */
  readonly addresses: readonly ListenAddress[];
  readonly handleQuery: HandleQuery;
  /** The server's own maximum for answers, in octets: 1232 unless configured. */
  readonly udpSize: number;
  /** Where answered queries are written to; undefined: nowhere. */
  readonly events?: QueryEventRings | undefined;
  /** What clients may do, if there are bounds. */
  readonly clientRules?: SharedClientRules | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface UdpCounts {
  /** One per reader thread; one of the main thread where there are none. */
  readonly readers: readonly ReaderCounts[];
  /** Readers without a thread that receives: it died, and the next one is not there yet. */
  readonly down: number;
  /** Reader threads that died and were replaced. */
  readonly restarts: number;
  /** Packets that the kernel dropped since a socket's queue was full; always 0 where it cannot be known. */
  readonly kernelDrops: number;
  readonly slow: SlowQuestionCounts;
}

export interface UdpListener {
  /** The addresses served, with the ports that the kernel chose. */
  readonly endpoints: readonly SocketAddress[];
  count(): UdpCounts;
  /**
   * Leaves the port without losing a query that others of the port could answer, or that was received: no new ones, what
   * is queued is answered, slow answers are waited for, at most so long; then the sockets are closed.
   */
  stop(graceMilliseconds: number): Promise<void>;
}
