/**
 * Whether the process lives, over HTTP.
 */
export interface HealthOptions {
  /** `host:port` or `:port`. */
  readonly address: string;
  /** How long the server goes on answering after SIGTERM: milliseconds. */
  readonly lameduck: number;
}
