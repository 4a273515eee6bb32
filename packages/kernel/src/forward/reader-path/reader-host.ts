/**
 * The interfaces of a reader's forwarder: the open question, the packets of clients, and the listener that answers them.
 */
import type { QuestionReader } from '../../table/question.ts';
import type { PendingQueries } from './pending-queries.ts';
import type { ReaderPolicy } from './reader-policy.ts';

/** The start parameters for forwarding in a reader. They outlive its thread. */
export interface ReaderPathData {
  readonly words: SharedArrayBuffer;
  /** The number of readers that the words were made for. */
  readonly readers: number;
  readonly fills: SharedArrayBuffer;
  /** Maximum of upstream sockets for the reader. */
  readonly maxSockets: number;
  /** The policy when the thread starts. */
  readonly policy: ReaderPolicy;
}

/** The question that the table has just left open. */
export interface UnansweredQuestion {
  readonly question: QuestionReader;
  /** The route number of its view if the table has no say on its name; else 0. */
  readonly route: number;
  /**
   * The kind of answer that must not be given any more, if any. `recent`: it has expired, and no server was asked for a new one
   * since. `held`: it has not expired, but only the chain may give it.
   */
  readonly expired: 'none' | 'recent' | 'rechecked' | 'held';
  hashWireName(name: Uint8Array): number;
}

/** Packets of clients. */
export interface ClientPackets {
  readonly octets: Uint8Array;
  startAt(index: number): number;
  lengthAt(index: number): number;
  writeEnvelope(index: number, target: Uint8Array, at: number): void;
}

/** The octets of a client's query: memory, the same memory to read numbers from, and the place of the query in it. */
export interface QueryOctets {
  readonly octets: Uint8Array;
  readonly view: DataView;
  readonly start: number;
  readonly length: number;
}

/** The facts about a question that the main thread takes over. */
export interface TakenOver {
  ticket: number;
  server: number;
  /** Milliseconds since the query was sent. */
  elapsed: number;
}

/** The listener that answers clients, and hands over to the main thread. */
export interface ReaderHost {
  /** Sends a response to a client, without changing its octets. */
  respond(pending: PendingQueries, client: number, response: Uint8Array, length: number): void;
  /** Hands a client over to the main thread. */
  handOver(pending: PendingQueries, client: number, about: TakenOver): void;
  /** Hands over a packet for a question that the main thread has taken over. */
  handOverReply(ticket: number, isCut: boolean, packet: Uint8Array, start: number, length: number): void;
  /** Reports that the network refused the query of such a question. @param errno 0: a forger was noticed */
  handOverFailure(ticket: number, errno: number): void;
  /** Call it when the fill ring has records. */
  wake(): void;
  /** Watches an upstream socket. */
  watch(socket: number, fd: number): boolean;
  /** Called before an upstream socket is closed. */
  unwatch?(socket: number): void;
  /** The newest policy; undefined if unchanged. */
  receivePolicy(): ReaderPolicy | undefined;
}
