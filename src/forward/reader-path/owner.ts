/**
 * What a reader's forwarder works with: the question that the table has left open, the packets of clients, and the listener that
 * answers them.
 */
import type { QuestionReader } from '../../table/question.ts';
import type { PendingQueries } from './pending-queries.ts';
import type { ReaderPolicy } from './reader-policy.ts';

/** What a reader forwards with. All of it outlives its thread. */
export interface ReaderPathData {
  readonly words: SharedArrayBuffer;
  /** That the words were made for. */
  readonly readers: number;
  readonly fills: SharedArrayBuffer;
  /** Upstream sockets that the reader may have open. */
  readonly maxSockets: number;
  /** The policy when the thread starts. */
  readonly policy: ReaderPolicy;
}

/** The question that the table has just left open. */
export interface OpenQuestion {
  readonly question: QuestionReader;
  /** The number of the route of its view, if nothing that the table holds concerns its name; else 0. */
  readonly route: number;
  /** What there is of an older answer: `recent` if no server was asked for a new one since it has expired. */
  readonly expired: 'none' | 'recent' | 'rechecked';
  hashOf(name: Uint8Array): number;
}

/** Packets of clients. */
export interface ClientPackets {
  readonly octets: Uint8Array;
  startOf(index: number): number;
  lengthOf(index: number): number;
  writeEnvelope(index: number, target: Uint8Array, at: number): void;
}

/** What the main thread is told of a question that it takes over. */
export interface TakenOver {
  ticket: number;
  server: number;
  /** Milliseconds since the query left. */
  elapsed: number;
}

/** The listener that clients are answered by, and the way to the main thread. */
export interface ReaderPathOwner {
  /** Sends a response to a client, and leaves its octets as they are. */
  respond(pending: PendingQueries, client: number, response: Uint8Array, length: number): void;
  /** Has the main thread answer a client. */
  handOver(pending: PendingQueries, client: number, about: TakenOver): void;
  /** Gives the main thread a packet for a question that it has taken over. */
  handOverReply(ticket: number, isCut: boolean, packet: Uint8Array, start: number, length: number): void;
  /** Tells the main thread that the network refused the query of such a question. @param errno 0: a forger was noticed */
  handOverFailure(ticket: number, errno: number): void;
  /** There are records in the fill ring. */
  wake(): void;
  /** Watches an upstream socket. */
  watch(socket: number, fd: number): boolean;
  /** An upstream socket is about to be closed. */
  unwatch?(socket: number): void;
  /** A newer policy, if there is one. */
  receivePolicy(): ReaderPolicy | undefined;
}
