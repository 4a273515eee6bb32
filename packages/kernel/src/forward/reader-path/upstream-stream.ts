/**
 * One connection of a reader to a server. Queries are sent together at the end of a batch. Replies are taken out of the
 * stream one by one, each after its length (RFC 1035 section 4.2.2).
 */
import { acknowledge } from '../../socket/connected-tcp.ts';
import { libc } from '../../socket/libc.ts';
import { EAGAIN, ECONNRESET, EINTR, MSG_DONTWAIT, MSG_NOSIGNAL } from '../../socket/linux.ts';
import type { QuestionReader } from '../../table/question.ts';
import { MAX_QUERY_OCTETS, type QueryForm, writeQuery } from './query-octets.ts';

const LENGTH_OCTETS = 2;
const OUTPUT_OCTETS = 4096;
/** The longest message with its length. */
const INPUT_OCTETS = LENGTH_OCTETS + 0xffff;

export class UpstreamStream {
  readonly fd: number;
  /** When it was opened, and when it last got a query: by the clock's monotonic time. */
  readonly openedAt: number;
  usedAt: number;
  /** When the server last sent data on it. */
  heardAt = Number.NEGATIVE_INFINITY;
  /** Whether it is known to be open. */
  isOpen = false;
  /** Accepts no more queries, and is closed once none is in flight. */
  isLeaving = false;
  /** Whether data was received since the last octets were sent: those carry its acknowledgement. */
  owesAcknowledgement = false;
  /** Queries in flight, and all that it got. */
  pending = 0;
  sent = 0;
  /** The received octets, and the place of the message that `next` found. */
  readonly octets = new Uint8Array(INPUT_OCTETS);
  start = 0;
  length = 0;
  #read = 0;
  #end = 0;
  readonly #output = new Uint8Array(OUTPUT_OCTETS);
  #outputEnd = 0;

  constructor(fd: number, now: number) {
    this.fd = fd;
    this.openedAt = now;
    this.usedAt = now;
  }

  /** Whether there are octets to send. */
  get isDirty(): boolean {
    return this.#outputEnd > 0;
  }

  /** Whether there is room for another query. */
  get hasRoom(): boolean {
    return this.#outputEnd + LENGTH_OCTETS + MAX_QUERY_OCTETS <= OUTPUT_OCTETS;
  }

  /** Adds a query. There must be room. @param passed octets of its options that are passed on */
  add(id: number, question: QuestionReader, form: QueryForm, passed: number): void {
    const at = this.#outputEnd + LENGTH_OCTETS;
    const end = writeQuery(this.#output, at, id, question, form, passed);
    const length = end - at;
    this.#output[at - 2] = length >> 8;
    this.#output[at - 1] = length;
    this.#outputEnd = end;
  }

  /**
   * Sends the added queries.
   *
   * @returns 0, or the error number: the connection is useless. It is also useless if it does not accept all octets, since
   *   it has then been stuck for long
   */
  flush(): number {
    const length = this.#outputEnd;
    if (length === 0) return 0;
    this.#outputEnd = 0;
    this.owesAcknowledgement = false;
    const sent = libc().send(this.fd, this.#output, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent === length) return 0;
    return sent < 0 ? libc().errno() : EAGAIN;
  }

  /** Receives pending octets. @returns 0, or the error number: the connection has ended */
  receive(now: number): number {
    if (this.#read > 0) this.#compact();
    const into = this.octets.subarray(this.#end);
    const count = libc().recv(this.fd, into, into.length, MSG_DONTWAIT);
    if (count > 0) {
      this.#end += count;
      this.heardAt = now;
      this.owesAcknowledgement = true;
      return 0;
    }
    if (count === 0) return ECONNRESET;
    const errno = libc().errno();
    return errno === EAGAIN || errno === EINTR ? 0 : errno;
  }

  /** Acknowledges what was received, if a reply may wait for that. See `acknowledge`. */
  acknowledgeIfOwed(): void {
    if (this.owesAcknowledgement && this.pending > 0) acknowledge(this.fd);
    this.owesAcknowledgement = false;
  }

  /** Finds the next complete message. @returns whether there is one */
  next(): boolean {
    const { octets } = this;
    const from = this.#read + LENGTH_OCTETS;
    if (this.#end < from) return false;
    const length = ((octets[from - 2] ?? 0) << 8) | (octets[from - 1] ?? 0);
    if (this.#end < from + length) return false;
    this.start = from;
    this.length = length;
    this.#read = from + length;
    return true;
  }

  /** Moves an incomplete message to the beginning. */
  #compact(): void {
    this.octets.copyWithin(0, this.#read, this.#end);
    this.#end -= this.#read;
    this.#read = 0;
  }
}
