/**
 * Queries of one moment, written where they are sent from: those of one socket leave with one `sendmmsg`, in trains where they may.
 */
import { TRAIN_PACKETS, TrainRow, type TrainSender } from '../../socket/train-row.ts';
import type { QuestionReader } from '../../table/question.ts';
import type { PendingQueries } from './pending-queries.ts';
import { MAX_QUERY_OCTETS, type QueryForm, writeQuery } from './query-octets.ts';

export interface QuerySender {
  /** Whether queries of a socket may leave in trains. */
  mayCouple(socket: number): boolean;
  /** The kernel takes no trains for the server of a socket. */
  trainRefused(socket: number): void;
  /** The kernel does not send a query, whose id this is; undefined: it reports an error of one sent before. */
  refused(socket: number, errno: number, id: number | undefined): void;
}

export class QueryRow implements TrainSender {
  readonly #row = new TrainRow(MAX_QUERY_OCTETS, this);
  readonly #pending: PendingQueries;
  readonly #sender: QuerySender;
  /** The slot of each seat. */
  readonly #slots = new Uint16Array(TRAIN_PACKETS);

  constructor(pending: PendingQueries, sender: QuerySender) {
    this.#pending = pending;
    this.#sender = sender;
  }

  /** Adds the query for the question of a slot; sends those before it if there is no room for it. */
  add(slot: number, fd: number, question: QuestionReader, form: QueryForm): void {
    const id = this.#pending.id[slot] ?? 0;
    const row = this.#row;
    if (row.isFull) row.flush();
    const { octets, next: at } = row;
    const length = writeQuery(octets, at, id, question, form) - at;
    this.#slots[row.add(this.#pending.socket[slot] ?? 0, fd, length)] = slot;
  }

  /** Sends without waiting. What finds the send buffer full is dropped, as UDP may drop anything. */
  flush(): void {
    this.#row.flush();
  }

  mayCouple(socket: number): boolean {
    return this.#sender.mayCouple(socket);
  }

  coupled(seat: number, train: number): void {
    this.#pending.train[this.#slots[seat] ?? 0] = train;
  }

  trainRefused(socket: number): void {
    this.#sender.trainRefused(socket);
  }

  packetRefused(socket: number, seat: number, errno: number): void {
    const at = this.#row.packetAt(seat);
    const { octets } = this.#row;
    const id = ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);
    this.#sender.refused(socket, errno, id);
  }

  errorReported(socket: number, errno: number): void {
    this.#sender.refused(socket, errno, undefined);
  }
}
