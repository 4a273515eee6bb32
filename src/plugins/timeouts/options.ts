/**
 * How long connections of clients may take, and how much they may ask.
 */
export interface TimeoutsOptions {
  /** Milliseconds, 1000 to 86,400,000, as all of these. Nothing: 3 s. */
  readonly read: number | undefined;
  /** Nothing: 5 s. */
  readonly write: number | undefined;
  /** Nothing: 10 s. */
  readonly idle: number | undefined;
  /** Queries on one connection; -1: any number. Nothing: any number. */
  readonly maxTcpQueries: number | undefined;
}
