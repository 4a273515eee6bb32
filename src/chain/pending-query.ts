/**
 * A query in wire form, for code that answers it without decoding messages.
 */

/** A query in wire form that waits for its answer. Call one of `respond`, `handOver` and `fail`, once. */
export interface PendingQuery {
  /** Memory that holds the query, at `start`, until it is answered; and the same memory to read numbers from. */
  readonly octets: Uint8Array;
  readonly view: DataView;
  readonly start: number;
  readonly length: number;
  /** The client's address. */
  readonly client: string;
  /** The listener group of the socket that it came to. */
  readonly group: number;
  /** @param response memory that begins with the response, which fits the client's UDP size; copied before this returns */
  respond(response: Uint8Array, length: number): void;
  /** Passes the query to the slow path. */
  handOver(): void;
  /** Reports an error thrown while answering. */
  fail(error: unknown): void;
}
