/**
 * Queries of one moment, written where they are sent from: those of one socket leave with one `sendmmsg`.
 */
import { MessageRow, type RefusedMessages } from '../../socket/message-row.ts';
import type { QuestionReader } from '../../table/question.ts';
import { HEADER_OCTETS } from '../../wire/header.ts';
import { writeOpt } from '../../wire/query-records.ts';

const PACKETS = 64;
const PACKET_OCTETS = 320;
/** A connected socket reports an error of an earlier packet once, at the next call; the packet itself can then still be sent. */
const TRIES = 2;
const FLAG = { RD: 0x01, AD: 0x20, CD: 0x10 } as const;

/** What our queries say. */
export interface QueryForm {
  readonly udpSize: number;
  readonly trustsAd: boolean;
}

export class QueryRow implements RefusedMessages {
  readonly #row = new MessageRow(PACKETS, PACKET_OCTETS, 'connected');
  readonly #onRefused: (socket: number, errno: number, id: number | undefined) => void;
  #socket = -1;
  #fd = -1;
  #count = 0;
  #refused = -1;
  #tries = 0;

  /** @param onRefused told of a query that the kernel will not send, by its id, or of an error of one sent before */
  constructor(onRefused: (socket: number, errno: number, id: number | undefined) => void) {
    this.#onRefused = onRefused;
  }

  /** Adds the query for a question; sends those before it if they are another socket's. */
  add(socket: number, fd: number, id: number, question: QuestionReader, form: QueryForm): void {
    if (this.#socket !== socket || this.#count === PACKETS) this.flush();
    this.#socket = socket;
    this.#fd = fd;
    const row = this.#row;
    const { octets } = row;
    const at = row.packetAt(this.#count);
    octets[at] = id >> 8;
    octets[at + 1] = id;
    octets[at + 2] = FLAG.RD;
    octets[at + 3] = (question.checkingDisabled ? FLAG.CD : 0) | (form.trustsAd ? FLAG.AD : 0);
    octets.fill(0, at + 4, at + HEADER_OCTETS);
    octets[at + 5] = 1;
    octets[at + 11] = 1;
    const { name, nameLength, type, dnsClass } = question;
    let to = at + HEADER_OCTETS;
    for (let octet = 0; octet < nameLength; octet++) octets[to++] = name[octet] ?? 0;
    octets[to++] = type >> 8;
    octets[to++] = type;
    octets[to++] = dnsClass >> 8;
    octets[to++] = dnsClass;
    row.setLength(this.#count, writeOpt(octets, to, form.udpSize, 0, question.dnssecOk) - at);
    this.#count += 1;
  }

  /** Sends without waiting. What finds the send buffer full is dropped, as UDP may drop anything. */
  flush(): void {
    const count = this.#count;
    this.#count = 0;
    this.#refused = -1;
    if (count > 0) this.#row.send(this.#fd, count, this);
  }

  skips(index: number, errno: number): boolean {
    this.#tries = index === this.#refused ? this.#tries + 1 : 1;
    this.#refused = index;
    const isRefused = this.#tries === TRIES;
    const at = this.#row.packetAt(index);
    const { octets } = this.#row;
    const id = isRefused ? ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0) : undefined;
    this.#onRefused(this.#socket, errno, id);
    return isRefused;
  }
}
