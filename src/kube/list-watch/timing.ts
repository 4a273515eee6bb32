/**
 * All times of list and watch in one place, in milliseconds. Tests shorten what they need.
 */
export interface ListWatchTiming {
  /** How long until the head of an answer must be there. */
  readonly answer: number;
  /** How long a page or a refusal may pause between two pieces. */
  readonly pageSilence: number;
  /** `timeoutSeconds` of a watch is drawn between these, so that watches do not all end together. */
  readonly watchShortest: number;
  readonly watchLongest: number;
  /** How much longer than its `timeoutSeconds` a watch may last before we end it ourselves. */
  readonly watchGrace: number;
  /** How long a watch may stay silent. Bookmarks come about once a minute. */
  readonly watchSilence: number;
  /** A watch that ends sooner, having said nothing, counts as failed. */
  readonly watchTooShort: number;
  /** A watch that lasted longer ends a row of failures, even if it said nothing. */
  readonly watchLongEnough: number;
  readonly backOffShortest: number;
  readonly backOffLongest: number;
  /** The most that a `Retry-After` can ask for. */
  readonly retryAfterLongest: number;
  /** About how often the store is compared with the server. */
  readonly checkEvery: number;
  /** How soon it is compared after something went wrong, and how soon a second time when it differs. */
  readonly checkSoon: number;
}

export const defaultTiming: ListWatchTiming = {
  answer: 30_000,
  pageSilence: 30_000,
  watchShortest: 240_000,
  watchLongest: 300_000,
  watchGrace: 15_000,
  watchSilence: 150_000,
  watchTooShort: 1_000,
  watchLongEnough: 10_000,
  backOffShortest: 500,
  backOffLongest: 30_000,
  retryAfterLongest: 60_000,
  checkEvery: 240_000,
  checkSoon: 10_000,
};
