/**
 * What listeners need from other layers: answers at once from the table, and answers later from the main thread.
 */

import type { PendingQuery } from '../chain/pending-query.ts';
import type { Client } from '../chain/query.ts';
import type { ReaderPathData, TakenOver } from '../forward/reader-path/owner.ts';
import type { ReaderPolicy } from '../forward/reader-path/reader-policy.ts';
import type { SocketAddress } from '../socket/addresses.ts';
import type { Transport } from '../wire/response-size.ts';
import type { QueryEventRings } from './query-events/event-rings.ts';

/** An address to serve. */
export interface ListenAddress extends SocketAddress {
  /** The listener group of its sockets: those of one group answer alike. Default: 0. */
  readonly group?: number;
  /** Where readers write what they answer there, if it is not the rings that they have for all addresses. */
  readonly events?: Pick<QueryEventRings, 'ofReader'> | undefined;
}

/** Answers from what is known already, without waiting: `TableReader` does. */
export interface InstantAnswers {
  /** Begins a batch: memory seen from now on stays until `leave`. */
  enter(): void;
  /** Ends the batch. @param milliseconds since its packets came, as a whole number */
  leave(milliseconds: number): void;
  /** @param milliseconds of the monotonic clock that all threads share */
  setTime(milliseconds: number): void;
  /**
   * Answers the query at `start` by writing the response over it.
   *
   * @param capacity octets from `start` on that may be written
   * @param transport how the query came, which bounds the response
   * @param group the listener group of the socket that it came to
   * @param client where the client's socket address begins in `packet`
   * @returns the length of the response; 0 to send nothing; -1 if `HandleQuery` must answer
   */
  answer(
    packet: Uint8Array,
    start: number,
    length: number,
    capacity: number,
    transport: Transport,
    group: number,
    client: number,
  ): number;
}

/**
 * Answers what `InstantAnswers` could not, on the main thread. The response fits the client's UDP size already;
 * `undefined` sends nothing.
 */
export type HandleQuery = (query: Uint8Array, client: Client) => Promise<Uint8Array | undefined>;

/**
 * Takes questions whose answers can be made from octets, without taking messages apart; all others are for `HandleQuery`.
 *
 * @returns whether it takes the question; the answer may come before this returns
 */
export type PacketPath = (pending: PendingQuery) => boolean;

/** The main thread's part of what readers forward by themselves: `ReaderPath` is. */
export interface ReaderForwarding {
  /** Reports each new policy, which is to be posted to readers before the function returns. @returns ends it */
  follow(post: (policy: ReaderPolicy) => void): () => void;
  /** What a reader starts with. */
  dataOf(reader: number): ReaderPathData;
  /** Takes in replies that readers have told their clients, some at a time. */
  drain(): 'none' | 'some' | 'more';
  /** Lets the next such reply wake us. @returns whether there is none already */
  sleep(): boolean;
  /** A reader gives up a question, which is asked as any other right behind this. */
  takeOver(reader: number, pending: PendingQuery, about: Readonly<TakenOver>): void;
  /** A packet has come for a question that was given up. */
  takeReply(
    reader: number,
    ticket: number,
    isCut: boolean,
    packet: Uint8Array,
    start: number,
    length: number,
  ): void;
  /** The network has refused the query of such a question. @param errno 0: packets of a forger came */
  takeFailure(reader: number, ticket: number, errno: number): void;
  /** The thread of a reader is gone, with what it had under way. */
  readerDied(reader: number): void;
}
