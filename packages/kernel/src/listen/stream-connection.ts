/**
 * One client's connection: reads messages, sends answers as they are ready, in any order (RFC 7766 section 6.2.1.1).
 *
 * Reading pauses while too many answers are pending or the client does not read them; the octets held meanwhile are
 * accounted for. An ending connection stops reading, sends its pending answers, then FIN. It discards further input:
 * closing with unread data would reset the connection and cost the client its answers.
 */
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encodeLengthPrefix, FrameParser, frame } from '@portolan/dns/frames.ts';
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import type { Client } from '../chain/query.ts';
import { ClientConnection, type ClientConnectionOptions } from './client-connection.ts';
import type { MessageAnswers } from './message-answers.ts';
import type { EndReason } from './served-connection.ts';

/** Maximum of pending answers for a new connection; each answer given adds one. */
const FIRST_OWED = 4;
/** Octets of answers, pending or unread, beyond which it stops reading: two of the longest messages. */
const UNTAKEN_OCTETS = 128 * 1024;
/** Answers from this size on are sent without a copy. */
const LONG_OCTETS = 4096;
/** What it reads ahead of its client's turn: octets, and pieces of the stream, since TLS brings each of its records as one. */
const READ_OCTETS = 64 * 1024;
const READ_PIECES = 64;
/** The expected size of an answer before a connection has had one. */
const FIRST_EXPECTED_OCTETS = 512;

/** `open` reads; `ending` sends pending answers and then FIN; `ended` has sent FIN, or is closed. */
type StreamState = 'open' | 'ending' | 'ended';

export class StreamConnection extends ClientConnection {
  protected override reason: EndReason = 'error';
  readonly #socket: Socket;
  readonly #client: Client;
  readonly #answers: MessageAnswers;
  readonly #parser = new FrameParser();
  /** When the pieces of the stream came that the parser holds. */
  readonly #arrivals: number[] = [];
  #state: StreamState = 'open';
  #answered = 0;
  /** The expected size of the next answer, from the last ones: a client that asks for large answers gets fewer at once. */
  #expectedOctets = FIRST_EXPECTED_OCTETS;
  /** Continue once the client has taken answers, or is gone. */
  readonly #untilTaken: (() => void)[] = [];
  #clientEnded = false;

  constructor(options: ClientConnectionOptions) {
    super(options);
    const { socket, client, answers } = options;
    this.#socket = socket;
    this.#client = { ...client, send: (response) => this.#send(response) };
    this.#answers = answers;
    socket.on('data', (chunk: Uint8Array) => this.#read(chunk));
    socket.on('drain', () => this.#onProgress());
    socket.on('end', () => this.#onClientEnd());
    // 'close' follows every error.
    socket.on('error', () => {});
  }

  protected override get isEnding(): boolean {
    return this.#state !== 'open';
  }

  protected override get hasUnread(): boolean {
    return this.#socket.writableLength > 0;
  }

  #read(chunk: Uint8Array): void {
    if (this.#state !== 'open') return;
    this.#parser.push(chunk);
    this.#arrivals.push(this.clock.monotonic());
    this.#forgetArrivals();
    // Others may be served first.
    if (this.#parser.held >= READ_OCTETS || this.#parser.waiting >= READ_PIECES) this.#socket.pause();
    this.schedule();
    this.#account();
  }

  /** Forgets the pieces whose messages were taken out. */
  #forgetArrivals(): void {
    while (this.#arrivals.length > this.#parser.waiting + 1) this.#arrivals.shift();
  }

  /** Updates the count of held octets. */
  #account(): void {
    if (this.isGone) return;
    const held = this.#parser.held + this.owed * this.#expectedOctets + this.#socket.writableLength;
    this.hold(held - this.heldOctets);
  }

  protected override serveUntil(end: number): void {
    if (this.#state !== 'open') return;
    // One segment for all answers to one segment of queries.
    this.#socket.cork();
    let isExhausted = false;
    let isOver = false;
    while (this.#state === 'open' && !isExhausted && !isOver && this.#mayServe()) {
      const message = this.#parser.next();
      if (message === undefined) isExhausted = true;
      else this.#serveMessage(message);
      isOver = this.clock.monotonic() >= end;
    }
    this.#socket.uncork();
    this.#account();
    if (this.#state !== 'open') return;
    if (isOver && !isExhausted) this.schedule();
    if (!isExhausted) this.#socket.pause();
    else if (this.#clientEnded) this.end('client');
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  #mayServe(): boolean {
    if (this.owed >= Math.min(this.limits.owed, FIRST_OWED + this.#answered)) return false;
    const untaken = this.#socket.writableLength + this.owed * this.#expectedOctets;
    return untaken < UNTAKEN_OCTETS && !this.#socket.writableNeedDrain;
  }

  #serveMessage(message: Uint8Array): void {
    if (message.length < HEADER_OCTETS) {
      this.end('garbage');
      return;
    }
    this.queries++;
    this.noteActivity();
    this.#forgetArrivals();
    const answer = this.#answers.answer(message, this.#client, this.#arrivals[0]);
    if (answer.kind === 'response') this.#write(answer.response);
    else if (answer.kind === 'later') void this.#writeLater(answer.response);
    else this.end('garbage');
    if (this.queries >= this.maxQueries) this.end('queries');
  }

  async #writeLater(coming: Promise<Uint8Array | undefined>): Promise<void> {
    this.owed++;
    const response = await coming;
    this.owed--;
    if (response !== undefined) this.#write(response);
    this.#account();
    this.#onProgress();
  }

  /** Sends a response before the last one, and waits until the client has taken enough of it. */
  async #send(response: Uint8Array): Promise<boolean> {
    this.#write(response);
    this.#account();
    // Other clients have their turn too.
    await nextTurn();
    while (this.#state !== 'ended' && this.#socket.writableLength >= UNTAKEN_OCTETS)
      await new Promise<void>((resolve) => this.#untilTaken.push(resolve));
    return this.#state !== 'ended';
  }

  #write(response: Uint8Array): void {
    this.#answered++;
    this.#expectedOctets = Math.max(response.length, Math.ceil((this.#expectedOctets + response.length) / 2));
    if (this.#state === 'ended') return;
    if (response.length < LONG_OCTETS) this.#socket.write(frame(response));
    else this.#writeLong(response);
  }

  /** Two buffers in one segment: a copy with the prefix would double the garbage. */
  #writeLong(response: Uint8Array): void {
    this.#socket.cork();
    this.#socket.write(encodeLengthPrefix(response.length));
    this.#socket.write(response);
    this.#socket.uncork();
  }

  /** Called when an answer was sent, or the client has read answers. */
  #onProgress(): void {
    this.noteActivity();
    for (const resume of this.#untilTaken.splice(0)) resume();
    if (this.#state === 'open') this.schedule();
    else this.#endIfNothingOwed();
    this.#account();
  }

  #onClientEnd(): void {
    this.#clientEnded = true;
    this.schedule();
  }

  protected override end(reason: EndReason): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    this.reason = reason;
    this.limitEnd();
    this.#socket.resume();
    this.#endIfNothingOwed();
  }

  #endIfNothingOwed(): void {
    if (this.#state !== 'ending' || this.owed > 0) return;
    this.#state = 'ended';
    this.#socket.end();
  }

  protected override onClose(): void {
    this.#state = 'ended';
    for (const resume of this.#untilTaken.splice(0)) resume();
    super.onClose();
  }
}
