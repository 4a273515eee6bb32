/**
 * The liveness of the process, over HTTP.
 */
export interface HealthOptions {
  /** `host:port` or `:port`. */
  readonly address: string;
  /** How long the server continues to answer after SIGTERM: milliseconds. */
  readonly lameduck: number;
}
