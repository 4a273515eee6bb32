/**
 * The interfaces that listeners need from other layers: answers at once from the table, and answers later from the main thread.
 */
import type { ClientTransport } from '@portolan/dns/response-size.ts';
import type { QueryOctets, ReaderPathData, TakenOver } from '../forward/reader-path/reader-host.ts';
import type { ReaderPolicy } from '../forward/reader-path/reader-policy.ts';
import type { SocketAddress } from '../socket/addresses.ts';
import type { SharedClientRules } from './client-rules.ts';
import type { ProxyProtocolPlan } from './proxy-protocol/proxy-policy.ts';
import type { QueryEventRings } from './query-events/event-rings.ts';

/** An address to serve. */
export interface ListenAddress extends SocketAddress {
  /** The listener group of its sockets: sockets of one group answer alike. Default: 0. */
  readonly group?: number;
  /** Where readers write the events of this address, if not to the rings for all addresses. */
  readonly events?: Pick<QueryEventRings, 'ofReader'> | undefined;
  /** What clients may do over UDP at this address, if not the rules for all addresses. */
  readonly clientRules?: SharedClientRules | undefined;
  /** Whose packets may begin with a header that tells the client; undefined: none do. */
  readonly proxies?: ProxyProtocolPlan | undefined;
  /** Where to count what is dropped, see `ListenerDrops`; undefined: nowhere. */
  readonly drops?: SharedArrayBuffer | undefined;
}

/** Answers from memory, without waiting: `TableReader` implements it. */
export interface InstantAnswers {
  /** Begins a batch: memory read from now on stays valid until `leave`. */
  enter(): void;
  /** Ends the batch. @param milliseconds since its packets came, as a whole number */
  leave(milliseconds: number): void;
  /** @param milliseconds of the monotonic clock that all threads share */
  setTime(milliseconds: number): void;
  /**
   * Answers the query at `start` by writing the response over it.
   *
   * @param capacity octets from `start` on that may be overwritten
   * @param transport of the query; bounds the response
   * @param group the listener group of the receiving socket
   * @param client where the client's socket address begins in `packet`
   * @returns the length of the response; 0 to send nothing; -1 if `HandleQuery` must answer
   */
  answer(
    packet: Uint8Array,
    start: number,
    length: number,
    capacity: number,
    transport: ClientTransport,
    group: number,
    client: number,
  ): number;
}

/** The main thread's part of forwarding by readers: `ReaderPath` implements it. */
export interface ReaderForwarding {
  /** Reports each new policy. Post it to the readers before `post` returns. @returns a function that stops the reports */
  follow(post: (policy: ReaderPolicy) => void): () => void;
  /** The start parameters of a reader. */
  createReaderData(reader: number): ReaderPathData;
  /** Takes in replies that readers have already sent to their clients, some at a time. */
  drain(): 'none' | 'some' | 'more';
  /** Requests a wake-up by the next such reply. @returns whether none is waiting already */
  sleep(): boolean;
  /** A reader gives up a question, which then takes the usual path. */
  takeOver(reader: number, query: QueryOctets, about: Readonly<TakenOver>): void;
  /** A reply came for a question that was given up. */
  takeReply(
    reader: number,
    ticket: number,
    isCut: boolean,
    packet: Uint8Array,
    start: number,
    length: number,
  ): void;
  /** The network reported an error for the query of such a question. @param errno 0: forged packets came */
  takeFailure(reader: number, ticket: number, errno: number): void;
  /** A reader's thread has died, and with it the questions in progress. */
  readerDied(reader: number): void;
}
