/**
 * A reader that forwards plain questions itself: its sockets towards clients and towards upstream in one epoll.
 *
 * `forward/reader-path/` decides and judges; here are the answers to clients, the way to the main thread, and the waiting.
 */
import type {
  ClientPackets,
  OpenQuestion,
  ReaderPathData,
  ReaderPathOwner,
  TakenOver,
} from '../forward/reader-path/owner.ts';
import type { PendingQueries } from '../forward/reader-path/pending-queries.ts';
import { ReaderForwarder } from '../forward/reader-path/reader-forwarder.ts';
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

/** What leaves a question open that may be forwarded: `TableReader` does. */
export type ForwardableAnswers = InstantAnswers & OpenQuestion;

export interface ForwardingReaderOptions {
  readonly data: ReaderPathData;
  readonly table: SharedArrayBuffer;
  readonly reader: number;
  readonly udpSize: number;
  readonly sockets: readonly number[];
  readonly answers: ForwardableAnswers;
  readonly questions: QuestionProducer;
  /** Of each socket. */
  readonly events: readonly (QueryEventWriter | undefined)[];
  readonly rules: ClientRuleChecker | undefined;
  /** A newer policy, if one was posted. */
  readonly receivePolicy: () => ReaderPolicy | undefined;
  /** A response beyond a rate was dropped or truncated. */
  readonly onLimited: () => void;
  /** Taking a reply threw, which is a defect of ours. */
  readonly onFault: (error: unknown) => void;
}

/** Tokens from here on are upstream sockets; below, those of clients. */
const FIRST_UPSTREAM = 0x1_0000;

export class ForwardingReader implements ReaderPathOwner, EndpointSource {
  readonly #options: ForwardingReaderOptions;
  readonly #forwarder: ReaderForwarder;
  readonly #epoll = new Epoll();
  readonly #replies = new ReplyBatch();
  readonly #sender = new ReplySender();
  /** Of all sockets, each once. */
  readonly #writers: readonly QueryEventWriter[];
  /** The client whose event is written. */
  #words: Uint32Array = new Uint32Array(0);
  #envelope = 0;
  #control = -1;

  constructor(options: ForwardingReaderOptions) {
    this.#options = options;
    this.#writers = [...new Set(options.events)].filter((writer) => writer !== undefined);
    const { data, table: memory, reader, answers, udpSize, sockets } = options;
    new SharedWords(data.words, data.readers).noteSocket(reader, MAX_SOCKETS, this.#epoll.fd);
    for (const [socket, fd] of sockets.entries()) this.#epoll.add(fd, socket);
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

  /** Responses that the kernel did not take so far. */
  get unsent(): number {
    return this.#replies.unsent;
  }

  /** Does what is due. */
  expire(now: number): void {
    this.#forwarder.expire(now);
  }

  /** Waits until a socket has packets, or something is due. @returns how many have; -1 if the wait was interrupted */
  wait(now: number, max: number): number {
    return this.#epoll.wait(this.#forwarder.untilDue(now, max));
  }

  /** The socket of a client that an event is about; -1 if it is one towards upstream. */
  clientSocketOf(event: number): number {
    const token = this.#epoll.tokenOf(event);
    return token < FIRST_UPSTREAM ? token : -1;
  }

  /** Begins a batch of packets of clients. */
  begin(now: number): void {
    this.#forwarder.begin(now);
  }

  /** Takes a packet whose question the table left open. @returns whether it does */
  take(packets: ClientPackets, index: number, socket: number): boolean {
    return this.#forwarder.take(packets, index, socket);
  }

  /** Ends the batch: sends what it asked, and what it could answer. */
  end(): void {
    this.#forwarder.flush();
    this.#replies.flush();
  }

  /** Takes the replies that these events are about. */
  receive(events: number, now: number): void {
    const { answers } = this.#options;
    for (const writer of this.#writers) writer.begin();
    answers.enter();
    this.#forwarder.begin(now);
    for (let event = 0; event < events; event++) {
      const token = this.#epoll.tokenOf(event);
      if (token >= FIRST_UPSTREAM) this.#receive(token - FIRST_UPSTREAM);
    }
    this.#replies.flush();
    for (const writer of this.#writers) if (writer.isWriting) writer.publish();
    answers.leave(0);
  }

  /** A packet that makes us fail must not end the reader: its question is overdue in a while. */
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
    const { rules, udpSize, onLimited } = this.#options;
    rules?.setTime();
    const at = pending.envelopeOf(client) + ENVELOPE.NAME;
    const decision = rules?.judgeResponse(pending.octets, at, response, 0) ?? DECISION.PASS;
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
    const envelope = pending.envelopeOf(client);
    this.#writeEvent(pending, client, response, length);
    const fd = this.#options.sockets[pending.clientSocket[client] ?? 0] ?? -1;
    if (this.#replies.fits(length)) this.#replies.add(fd, octets, response, length, envelope);
    else
      this.#sender.send(
        fd,
        octets.subarray(envelope, envelope + ENVELOPE.OCTETS),
        response.subarray(0, length),
      );
  }

  #writeEvent(pending: PendingQueries, client: number, response: Uint8Array, length: number): void {
    const events = this.#options.events[pending.clientSocket[client] ?? 0];
    if (events?.isWriting !== true) return;
    const envelope = pending.envelopeOf(client);
    this.#words = pending.words;
    this.#envelope = envelope >> 2;
    const hasControl = pending.octets[envelope + ENVELOPE.CONTROL_LENGTH] !== 0;
    this.#control = hasControl ? (envelope + ENVELOPE.CONTROL) >> 2 : -1;
    events.receivedAt(pending.came[client] ?? 0);
    events.noteQuery(pending.view, pending.queryOf(client), pending.length[client] ?? 0, FLAG.CHAIN);
    const view = new DataView(response.buffer, response.byteOffset, length);
    events.write(view, 0, length, this, 0);
  }

  writeEndpoints(_index: number, target: Uint32Array, at: number): number {
    return writeEndpoints(this.#words, this.#envelope, this.#control, target, at);
  }

  handOver(pending: PendingQueries, client: number, about: TakenOver): void {
    const { questions } = this.#options;
    const [socket, length] = [pending.clientSocket[client] ?? 0, pending.length[client] ?? 0];
    questions.push(socket, pending, client, pending.octets, pending.queryOf(client), length, about);
  }

  handOverReply(ticket: number, isCut: boolean, packet: Uint8Array, start: number, length: number): void {
    this.#options.questions.pushReply(ticket, isCut, packet, start, length);
  }

  handOverFailure(ticket: number, errno: number): void {
    this.#options.questions.pushFailure(ticket, errno);
  }

  /** Ends it: what is under way is for the main thread. */
  close(): void {
    this.#forwarder.end();
    this.#epoll.close();
  }
}
