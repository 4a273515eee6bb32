/**
 * What listeners need from others: who answers at once, and who answers later.
 */
import type { Asker } from '../chain/asker.ts';

/** Answers from what is known already: `TableReader` is one. */
export interface InstantAnswers {
  /** Begins a batch: memory seen from now on stays until `leave`. */
  enter(): void;
  /** Ends the batch. @param milliseconds since its packets came, as a whole number */
  leave(milliseconds: number): void;
  /** @param milliseconds since the Unix epoch */
  setTime(milliseconds: number): void;
  /**
   * Answers the query at `start` by writing the response over it.
   *
   * @param capacity octets from `start` on that may be written
   * @param limit the server's own maximum for UDP, or 65,535 for TCP
   * @returns the length of the response; 0 to send nothing; -1 to ask the one who answers later
   */
  answer(packet: Uint8Array, start: number, length: number, capacity: number, limit: number): number;
}

export interface Client {
  readonly address: string;
  readonly port: number;
  readonly transport: 'udp' | 'tcp';
}

/**
 * Answers what `InstantAnswers` could not, on the main thread. The response fits the client's UDP size already;
 * `undefined` sends nothing.
 */
export type AnswerSlowly = (query: Uint8Array, client: Client) => Promise<Uint8Array | undefined>;

/**
 * Takes questions whose answers can be made from octets, without taking messages apart; all others are for `AnswerSlowly`.
 *
 * @returns whether it takes the question; the answer may come before this returns
 */
export type AnswerInOctets = (asker: Asker) => boolean;

export const DNS_OVER_TCP_LIMIT = 65_535;
