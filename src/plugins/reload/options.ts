/**
 * How often to check for changes of the configuration.
 */
export interface ReloadOptions {
  /** Milliseconds, from 2000. */
  readonly interval: number;
  /** The interval varies by up to half of this in both directions: milliseconds, at most half the interval. */
  readonly jitter: number;
}
