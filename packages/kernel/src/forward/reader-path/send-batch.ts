/**
 * Queries of one batch, written where they are sent from: those of one socket leave with one `sendmmsg`, in trains if possible.
 */
import { TRAIN_PACKETS, TrainRow, type TrainSender } from '../../socket/train-row.ts';
import type { QuestionReader } from '../../table/question.ts';
import type { PendingQueries } from './pending-queries.ts';
import { MAX_QUERY_OCTETS, type QueryForm, writeQuery } from './query-octets.ts';

export interface QuerySender {
  /** Whether queries of a socket may be sent in trains. */
  mayCouple(socket: number): boolean;
  /** The kernel refuses trains for the server of a socket. */
  trainRefused(socket: number): void;
  /** The kernel refuses the query with this id; undefined: it reports an error of an earlier one. */
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

  /** Adds the query for the question of a slot. First sends pending ones if there is no room. */
  add(slot: number, fd: number, question: QuestionReader, form: QueryForm): void {
    const id = this.#pending.id[slot] ?? 0;
    const row = this.#row;
    if (row.isFull) row.flush();
    const { octets, next: at } = row;
    const length = writeQuery(octets, at, id, question, form, this.#pending.passed[slot] ?? 0) - at;
    this.#slots[row.add(this.#pending.socket[slot] ?? 0, fd, length)] = slot;
  }

  /** Sends without waiting. Drops packets when the send buffer is full, as UDP permits. */
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
