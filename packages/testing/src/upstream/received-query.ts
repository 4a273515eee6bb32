/**
 * A query that an upstream double has received, and what its reaction may do about it: the same over sockets, in virtual time, and
 * in a thread.
 */
import type { Socket } from 'node:net';
import { decodeMessage } from '@portolan/dns/message.ts';
import type { Message } from '@portolan/dns/types.ts';

/** What a double does about a query. Without any call, the query gets no reply. */
export type React = (received: ReceivedQuery) => void;

/** The way that a query came, and back. */
export interface QueryPath {
  readonly over: 'udp' | 'stream';
  /** The port that it came from; 0 in virtual time. */
  readonly port: number;
  /** The connection that it came on, if any. */
  readonly connection: Socket | undefined;
  /** Sends a message, however long, or octets as they are. What comes after the end of the double goes nowhere. */
  readonly send: (reply: Message | Uint8Array) => void;
  /** Does something in so many milliseconds, of real or of virtual time, unless the double has ended by then. */
  readonly after: (milliseconds: number, run: () => void) => void;
  /** Ends the connection; in virtual time, the network refuses the query. */
  readonly cut: () => void;
}

export class ReceivedQuery implements QueryPath {
  readonly octets: Uint8Array;
  readonly over: QueryPath['over'];
  readonly port: number;
  readonly connection: Socket | undefined;
  readonly send: QueryPath['send'];
  readonly after: QueryPath['after'];
  readonly cut: QueryPath['cut'];
  #query: Message | undefined;

  constructor(octets: Uint8Array, { over, port, connection, send, after, cut }: QueryPath) {
    this.octets = octets;
    this.over = over;
    this.port = port;
    this.connection = connection;
    this.send = send;
    this.after = after;
    this.cut = cut;
  }

  /** Decodes the query already now. Throws if it is malformed. */
  decode(): this {
    this.#query ??= decodeMessage(this.octets);
    return this;
  }

  /** The query, decoded when it is first asked for: a flood is answered without. */
  get query(): Message {
    this.#query ??= decodeMessage(this.octets);
    return this.#query;
  }
}
