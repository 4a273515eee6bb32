/**
 * The time that a query may take in all.
 */
export interface CancelOptions {
  /** Milliseconds, more than 0. */
  readonly timeout: number;
}
