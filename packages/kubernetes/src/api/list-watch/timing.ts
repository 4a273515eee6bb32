/**
 * All durations of list and watch in one place, in milliseconds. Tests shorten what they need.
 */
export interface ListWatchTiming {
  /** Timeout of a connection, TLS included. */
  readonly connect: number;
  /** Timeout of the head of an answer. */
  readonly answer: number;
  /** Maximum pause between two pieces of a page or a refusal. */
  readonly pageSilence: number;
  /** `timeoutSeconds` of a watch is drawn from this range, so that watches do not all end together. */
  readonly minWatch: number;
  readonly maxWatch: number;
  /** How much longer than its `timeoutSeconds` a watch may last before we close it. */
  readonly watchGrace: number;
  /** A watch that ends sooner, without an event, counts as failed. */
  readonly minUsefulWatch: number;
  /** A watch that lasted longer resets the count of failures, even without an event. */
  readonly provenWatch: number;
  /** The base of the exponential back-off, and its limit. */
  readonly minBackOff: number;
  readonly maxBackOff: number;
  /** Mean time between attempts while the server is unreachable: a refused connection costs the server nothing. */
  readonly reconnect: number;
  /** Upper limit of `Retry-After`. */
  readonly maxRetryAfter: number;
  /** A list after `410 Gone` begins within this time, so that all clients of a restarted server do not list at once. */
  readonly relistSpread: number;
  /** A refused streamed list is tried again after this time: the server may have been upgraded. */
  readonly streamRetry: number;
  /** Without an event, bookmark or answered comparison for about this long, the store is compared with the server. */
  readonly quiet: number;
  /** A comparison without an answer fails after this time. */
  readonly checkAnswer: number;
  /** Without an event, bookmark or answered comparison for this long, the server counts as silent. */
  readonly silent: number;
  /** The store of a busy kind is compared about this often. */
  readonly checkEvery: number;
  /** Delay of a comparison after a reconnection, and of the second one after a difference. */
  readonly checkSoon: number;
  /** How long a comparison waits for the watch to reach the version of the server's answer. */
  readonly checkLag: number;
}

export const defaultTiming: ListWatchTiming = {
  connect: 3_000,
  answer: 30_000,
  pageSilence: 30_000,
  minWatch: 240_000,
  maxWatch: 300_000,
  watchGrace: 15_000,
  minUsefulWatch: 1_000,
  provenWatch: 10_000,
  minBackOff: 1_000,
  maxBackOff: 30_000,
  reconnect: 1_000,
  maxRetryAfter: 60_000,
  relistSpread: 2_000,
  streamRetry: 3_600_000,
  quiet: 30_000,
  checkAnswer: 10_000,
  silent: 90_000,
  checkEvery: 240_000,
  checkSoon: 10_000,
  checkLag: 15_000,
};
