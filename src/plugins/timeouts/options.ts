/**
 * Limits of connections of clients: times, and number of queries.
 */
export interface TimeoutsOptions {
  /** Milliseconds, 1000 to 86,400,000, for all three timeouts. Undefined: 3 s. */
  readonly read: number | undefined;
  /** Undefined: 5 s. */
  readonly write: number | undefined;
  /** Undefined: 10 s. */
  readonly idle: number | undefined;
  /** Maximum number of queries on one connection; -1 or undefined: any number. */
  readonly maxTcpQueries: number | undefined;
}
