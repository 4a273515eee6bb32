/**
 * How long a client waits for its answer, counted from the moment that its query was received.
 *
 * The names are those of Unbound: `sock-queue-timeout` and `discard-timeout`.
 */

/** Milliseconds. */
export interface QueryTimeouts {
  /** A query that the main thread has not begun to answer by then is dropped at its turn. */
  readonly queue: number;
  /** An answer that comes later is not sent, but stays in the cache. */
  readonly discard: number;
}

/** The resolvers of glibc and of Go, and `dig`, wait this long. */
export const DEFAULT_QUERY_TIMEOUTS: QueryTimeouts = { queue: 5_000, discard: 5_000 };
