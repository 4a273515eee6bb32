/**
 * A query that is answered from its octets, without taking messages apart, as those see it who answer.
 */

/** What waits for the answer to a query that is kept as octets. One of the three is called, once. */
export interface PendingQuery {
  /** Memory that the query lies in, at `start`, until it is answered; and the same memory to read numbers from. */
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
  /** Has the one who answers slowly answer. */
  handOver(): void;
  /** Answering threw. */
  fail(error: unknown): void;
}
