/**
 * A reader that forwards plain questions itself: one epoll for its client sockets and its upstream sockets.
 *
 * `forward/reader-path/` makes the decisions; this file answers clients, hands over to the main thread, and waits.
 */
import type { PendingQueries } from '../forward/reader-path/pending-queries.ts';
import { ReaderForwarder } from '../forward/reader-path/reader-forwarder.ts';
import type {
  ClientPackets,
  ReaderHost,
  ReaderPathData,
  TakenOver,
  UnansweredQuestion,
} from '../forward/reader-path/reader-host.ts';
import type { ReaderPolicy } from '../forward/reader-path/reader-policy.ts';
import { MAX_SOCKETS, SharedWords } from '../forward/reader-path/shared-words.ts';
import { writeEndpoints } from '../socket/endpoints.ts';
import { ENVELOPE } from '../socket/envelope.ts';
import { Epoll } from '../socket/epoll.ts';
import { ReplySender } from '../socket/reply.ts';
import { ReplyBatch } from '../socket/reply-batch.ts';
import { type ClientRuleChecker, DECISION, truncateResponse } from './client-rules.ts';
import { FLAG } from './query-events/event-ring.ts';
import type { EndpointSource, QueryEventWriter } from './query-events/event-writer.ts';
import type { QuestionProducer } from './question-ring.ts';
import type { InstantAnswers } from './types.ts';

/** The table's answers, with the details of open questions that may be forwarded: `TableReader` does both. */
export type ForwardableAnswers = InstantAnswers & UnansweredQuestion;

export interface ForwardingReaderOptions {
  readonly data: ReaderPathData;
  readonly table: SharedArrayBuffer;
  readonly reader: number;
  readonly udpSize: number;
  readonly sockets: readonly number[];
  readonly answers: ForwardableAnswers;
  readonly questions: QuestionProducer;
  /** One per socket. */
  readonly events: readonly (QueryEventWriter | undefined)[];
  /** One per socket. */
  readonly rules: readonly (ClientRuleChecker | undefined)[];
  /** Called with the descriptor of a socket that responses were not sent on. */
  readonly onUnsent: (fd: number, responses: number) => void;
  /** A newer policy, if one was posted. */
  readonly receivePolicy: () => ReaderPolicy | undefined;
  /** Called when a response beyond a rate was dropped or truncated. */
  readonly onLimited: () => void;
  /** Called when handling a reply threw, which is a defect of this program. */
  readonly onFault: (error: unknown) => void;
}

/** Tokens from here on are upstream sockets; lower ones are client sockets. */
const FIRST_UPSTREAM = 0x1_0000;

export class ForwardingReader implements ReaderHost, EndpointSource {
  readonly #options: ForwardingReaderOptions;
  readonly #forwarder: ReaderForwarder;
  readonly #epoll = new Epoll();
  readonly #replies: ReplyBatch;
  readonly #sender = new ReplySender();
  /** The writers of all sockets, without duplicates. */
  readonly #writers: readonly QueryEventWriter[];
  /** The client of the event being written. */
  #words: Uint32Array = new Uint32Array(0);
  #envelope = 0;
  #control = -1;

  constructor(options: ForwardingReaderOptions) {
    this.#options = options;
    this.#replies = new ReplyBatch(options.onUnsent);
    this.#writers = [...new Set(options.events)].filter((writer) => writer !== undefined);
    const { data, table: memory, reader, answers, udpSize, sockets } = options;
    new SharedWords(data.words, data.readers).noteSocket(reader, MAX_SOCKETS, this.#epoll.fd);
    for (const [socket, fd] of sockets.entries())
      if (!this.#epoll.add(fd, socket)) throw this.#epoll.refusal();
    this.#forwarder = new ReaderForwarder(data, { memory, reader }, answers, udpSize, this);
  }

  /** Whether replies may come from upstream. */
  get isWaiting(): boolean {
    return this.#forwarder.isWaiting;
  }

  /** Whether clients wait for replies from upstream. */
  get isBusy(): boolean {
    return this.#forwarder.isBusy;
  }

  /** Responses that the kernel has refused so far. */
  get unsent(): number {
    return this.#replies.unsent;
  }

  /** Handles timeouts that are due. */
  expire(now: number): void {
    this.#forwarder.expire(now);
  }

  /** Waits until a socket has packets, or a timeout is due. @returns how many sockets have packets; -1 if the wait was interrupted */
  wait(now: number, max: number): number {
    this.#forwarder.rest();
    return this.#epoll.wait(this.#forwarder.untilDue(now, max));
  }

  /** The client socket of an event; -1 if it is an upstream socket. */
  findClientSocket(event: number): number {
    const token = this.#epoll.tokenAt(event);
    return token < FIRST_UPSTREAM ? token : -1;
  }

  /** Begins a batch of client packets. */
  begin(now: number): void {
    this.#forwarder.begin(now);
  }

  /** Takes a packet whose question the table left open. @returns whether it took the packet */
  take(packets: ClientPackets, index: number, socket: number): boolean {
    return this.#forwarder.take(packets, index, socket);
  }

  /** Ends the batch: sends its queries to upstream servers, and the answers that it already has. */
  end(): void {
    this.#forwarder.flush();
    this.#replies.flush();
  }

  /** Receives the replies for these events. */
  receive(events: number, now: number): void {
    const { answers } = this.#options;
    for (const writer of this.#writers) writer.begin();
    answers.enter();
    this.#forwarder.begin(now);
    for (let event = 0; event < events; event++) {
      const token = this.#epoll.tokenAt(event);
      if (token >= FIRST_UPSTREAM) this.#receive(token - FIRST_UPSTREAM);
    }
    this.#replies.flush();
    for (const writer of this.#writers) if (writer.isWriting) writer.publish();
    answers.leave(0);
  }

  /** A packet that causes an exception must not end the reader: its question times out later. */
  #receive(socket: number): void {
    try {
      this.#forwarder.receive(socket);
    } catch (error) {
      this.#options.onFault(error);
    }
  }

  watch(socket: number, fd: number): boolean {
    return this.#epoll.add(fd, FIRST_UPSTREAM + socket);
  }

  receivePolicy(): ReaderPolicy | undefined {
    return this.#options.receivePolicy();
  }

  wake(): void {
    this.#options.questions.wake();
  }

  respond(pending: PendingQueries, client: number, response: Uint8Array, length: number): void {
    const { udpSize, onLimited } = this.#options;
    const rules = this.#options.rules[pending.clientSocket[client] ?? 0];
    rules?.setTime();
    const at = pending.locateEnvelope(client) + ENVELOPE.NAME;
    const decision = rules?.judgeResponse(pending.octets, at, response, 0, length) ?? DECISION.PASS;
    if (decision === DECISION.PASS) {
      this.#send(pending, client, response, length);
      return;
    }
    onLimited();
    if (decision === DECISION.DROP) return;
    const cut = response.slice(0, length);
    this.#send(pending, client, cut, truncateResponse(cut, 0, length, udpSize));
  }

  #send(pending: PendingQueries, client: number, response: Uint8Array, length: number): void {
    const { octets } = pending;
    const envelope = pending.locateEnvelope(client);
    this.#writeEvent(pending, client, response, length);
    const fd = this.#options.sockets[pending.clientSocket[client] ?? 0] ?? -1;
    if (this.#replies.fits(length)) this.#replies.add(fd, octets, response, length, envelope);
    else {
      const octetsOfEnvelope = octets.subarray(envelope, envelope + ENVELOPE.OCTETS);
      const sent = this.#sender.send(fd, octetsOfEnvelope, response.subarray(0, length));
      if (sent !== 'sent') this.#options.onUnsent(fd, 1);
    }
  }

  #writeEvent(pending: PendingQueries, client: number, response: Uint8Array, length: number): void {
    const events = this.#options.events[pending.clientSocket[client] ?? 0];
    if (events?.wants(response, 0, length, pending.came[client] ?? 0) !== true) return;
    const envelope = pending.locateEnvelope(client);
    this.#words = pending.words;
    this.#envelope = envelope >> 2;
    const hasControl = pending.octets[envelope + ENVELOPE.CONTROL_LENGTH] !== 0;
    this.#control = hasControl ? (envelope + ENVELOPE.CONTROL) >> 2 : -1;
    events.receivedAt(pending.came[client] ?? 0);
    events.noteQuery(pending.view, pending.queryStartAt(client), pending.length[client] ?? 0, FLAG.CHAIN);
    const view = new DataView(response.buffer, response.byteOffset, length);
    events.write(view, 0, length, this, 0);
  }

  writeEndpoints(_index: number, target: Uint32Array, at: number): number {
    return writeEndpoints(this.#words, this.#envelope, this.#control, target, at);
  }

  handOver(pending: PendingQueries, client: number, about: TakenOver): void {
    const { questions } = this.#options;
    const socket = pending.clientSocket[client] ?? 0;
    const length = pending.length[client] ?? 0;
    const at = pending.queryStartAt(client);
    const came = pending.came[client] ?? 0;
    questions.push(socket, pending, client, pending.octets, at, length, came, about);
  }

  handOverReply(ticket: number, isCut: boolean, packet: Uint8Array, start: number, length: number): void {
    this.#options.questions.pushReply(ticket, isCut, packet, start, length);
  }

  handOverFailure(ticket: number, errno: number): void {
    this.#options.questions.pushFailure(ticket, errno);
  }

  /** Closes it: unanswered questions go to the main thread. */
  close(): void {
    this.#forwarder.end();
    this.#epoll.close();
  }
}
