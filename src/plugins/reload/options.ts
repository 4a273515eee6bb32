/**
 * Looks for changes of the configuration.
 */
export interface ReloadOptions {
  /** Milliseconds, from 2000. */
  readonly interval: number;
  /** The interval is up to half of this shorter or longer: milliseconds, at most half the interval. */
  readonly jitter: number;
}
