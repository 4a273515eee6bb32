/**
 * One client's connection: messages in, answers out as they are ready, in any order (RFC 7766 section 6.2.1.1).
 *
 * Reading stops while too many answers are owed or the client does not take those it has; the octets that are held meanwhile
 * are accounted for. A connection that ends stops reading, sends what it owes, then FIN; what the client still sends is
 * discarded, as closing over unread data would reset the connection and cost the client its answers.
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../base/clock.ts';
import type { Client } from '../chain/query.ts';
import { FrameParser, frame, prefixOf } from '../wire/frames.ts';
import { HEADER_OCTETS } from '../wire/header.ts';
import type { MessageAnswers } from './message-answers.ts';

export interface ConnectionLimits {
  /** How long a connection may go without a whole query while no answer is owed (RFC 7766 section 6.2.3). */
  readonly idleMilliseconds: number;
  /** How long a new connection may take until its first query is whole. Default: as long as it may be idle. */
  readonly readMilliseconds?: number | undefined;
  /** How long the client may leave answers untaken. Default: as long as it may be idle. */
  readonly writeMilliseconds?: number | undefined;
  /** After so many queries the client has to connect again, perhaps to another server. */
  readonly queries: number;
  readonly ageMilliseconds: number;
  /** Answers owed at once; what comes on top waits unread. */
  readonly owed: number;
  /** How long an ending connection may take to send what it owes and see the client's end. */
  readonly endingMilliseconds: number;
}

/**
 * Why a connection ended. `evicted`: its place was needed. `unread`: too many octets were held for it, as the client did not
 * take its answers. `error`: a reset, or answers not taken in time.
 */
export const END_REASONS = [
  ...['client', 'garbage', 'idle', 'queries', 'age', 'leaving', 'evicted', 'unread', 'error'],
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** What a connection reports to its listener. */
export interface ConnectionEvents {
  /** It is gone. Called once. */
  onEnd(connection: StreamConnection, reason: EndReason): void;
  /** It holds so many octets more than before, or less. */
  onHeld(connection: StreamConnection, more: number): void;
}

/** Answers that a new connection may be owed at once; each that it was given lets it have one more. */
const FIRST_OWED = 4;
/** Octets of answers, owed or not taken yet, beyond which no more is read: two of the longest messages. */
const UNTAKEN_OCTETS = 128 * 1024;
/** Answers from here on are not copied to be sent. */
const LONG_OCTETS = 4096;
/** What an answer is expected to have while a connection has had none. */
const FIRST_EXPECTED_OCTETS = 512;

/** `open` reads; `ending` sends what it owes and then FIN; `ended` has sent FIN, or is gone. */
type State = 'open' | 'ending' | 'ended';

export class StreamConnection {
  /** Whole queries received. */
  queries = 0;
  readonly #socket: Socket;
  readonly #client: Client;
  readonly #answers: MessageAnswers;
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #events: ConnectionEvents;
  readonly #parser = new FrameParser();
  readonly #opened: number;
  #maxQueries: number;
  #state: State = 'open';
  #reason: EndReason = 'error';
  #owed = 0;
  #answered = 0;
  /** How long the next answer will be, judging by the last ones: a client that asks for large ones gets fewer at once. */
  #expectedOctets = FIRST_EXPECTED_OCTETS;
  /** When it was last of use, of the clock's monotonic time: opened, asked, or answered. */
  lastActive: number;
  /** Octets of queries that are not answered yet and of answers that the client has not taken. */
  heldOctets = 0;
  #clientEnded = false;
  /** Its end was reported. */
  #isGone = false;
  #timer: Timer;

  constructor(
    socket: Socket,
    client: Client,
    answers: MessageAnswers,
    limits: ConnectionLimits,
    clock: Clock,
    events: ConnectionEvents,
  ) {
    this.#socket = socket;
    this.#client = client;
    this.#answers = answers;
    this.#limits = limits;
    this.#clock = clock;
    this.#events = events;
    this.#maxQueries = limits.queries;
    this.#opened = clock.monotonic();
    this.lastActive = this.#opened;
    this.#timer = this.#watchTime();
    socket.setNoDelay(true);
    socket.on('data', (chunk: Uint8Array) => this.#read(chunk));
    socket.on('drain', () => this.#onProgress());
    socket.on('end', () => this.#onClientEnd());
    // 'close' follows every error.
    socket.on('error', () => {});
    socket.on('close', () => this.#onClose());
  }

  /** Asks the client to go elsewhere: ends now, or after its first query if it has not asked yet. */
  leave(): void {
    if (this.queries > 0) this.#end('leaving');
    else this.#maxQueries = 1;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Whether nothing is lost if it is closed: no answer is owed, or it is ending anyhow. */
  get isIdle(): boolean {
    return this.#state !== 'open' || (this.#owed === 0 && this.#socket.writableLength === 0);
  }

  /** Ends it if it is idle for so long. */
  endIfIdleFor(milliseconds: number): void {
    if (this.isIdle && this.#clock.monotonic() - this.lastActive >= milliseconds) this.#end('idle');
  }

  /** Closes it at once, whatever it owes. */
  cut(reason: EndReason): void {
    this.#reason = reason;
    this.destroy();
    // Its place is needed now, and 'close' comes later.
    this.#onClose();
  }

  #read(chunk: Uint8Array): void {
    if (this.#state !== 'open') return;
    this.#parser.push(chunk);
    this.#serve();
    this.#account();
  }

  /** Brings what is held up to date. */
  #account(): void {
    if (this.#isGone) return;
    const held = this.#parser.held + this.#owed * this.#expectedOctets + this.#socket.writableLength;
    const more = held - this.heldOctets;
    this.heldOctets = held;
    if (more !== 0) this.#events.onHeld(this, more);
  }

  /** Answers what has come in, as far as the limits allow. */
  #serve(): void {
    if (this.#state !== 'open') return;
    // One segment for all answers to one segment of queries.
    this.#socket.cork();
    let isExhausted = false;
    while (this.#state === 'open' && !isExhausted && this.#mayServe()) {
      const message = this.#parser.next();
      if (message === undefined) isExhausted = true;
      else this.#serveMessage(message);
    }
    this.#socket.uncork();
    if (this.#state !== 'open') return;
    if (!isExhausted) this.#socket.pause();
    else if (this.#clientEnded) this.#end('client');
    else this.#socket.resume();
  }

  #mayServe(): boolean {
    if (this.#owed >= Math.min(this.#limits.owed, FIRST_OWED + this.#answered)) return false;
    const untaken = this.#socket.writableLength + this.#owed * this.#expectedOctets;
    return untaken < UNTAKEN_OCTETS && !this.#socket.writableNeedDrain;
  }

  #serveMessage(message: Uint8Array): void {
    if (message.length < HEADER_OCTETS) {
      this.#end('garbage');
      return;
    }
    this.queries++;
    this.lastActive = this.#clock.monotonic();
    const answer = this.#answers.answer(message, this.#client);
    if (answer.kind === 'response') this.#write(answer.response);
    else if (answer.kind === 'later') void this.#writeLater(answer.response);
    else this.#end('garbage');
    if (this.queries >= this.#maxQueries) this.#end('queries');
  }

  async #writeLater(coming: Promise<Uint8Array | undefined>): Promise<void> {
    this.#owed++;
    const response = await coming;
    this.#owed--;
    if (response !== undefined) this.#write(response);
    this.#account();
    this.#onProgress();
  }

  #write(response: Uint8Array): void {
    this.#answered++;
    this.#expectedOctets = Math.max(response.length, Math.ceil((this.#expectedOctets + response.length) / 2));
    if (this.#state === 'ended') return;
    if (response.length < LONG_OCTETS) this.#socket.write(frame(response));
    else this.#writeLong(response);
  }

  /** As two buffers of one segment: a copy with its prefix would leave as much again to the collector. */
  #writeLong(response: Uint8Array): void {
    this.#socket.cork();
    this.#socket.write(prefixOf(response.length));
    this.#socket.write(response);
    this.#socket.uncork();
  }

  /** An answer was sent, or the client has taken what was. */
  #onProgress(): void {
    this.lastActive = this.#clock.monotonic();
    if (this.#state === 'open') this.#serve();
    else this.#endIfNothingOwed();
    this.#account();
  }

  #onClientEnd(): void {
    this.#clientEnded = true;
    this.#serve();
  }

  #end(reason: EndReason): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    this.#reason = reason;
    this.#timer.cancel();
    this.#timer = this.#clock.after(this.#limits.endingMilliseconds, () => this.destroy());
    this.#socket.resume();
    this.#endIfNothingOwed();
  }

  #endIfNothingOwed(): void {
    if (this.#state !== 'ending' || this.#owed > 0) return;
    this.#state = 'ended';
    this.#socket.end();
  }

  #onClose(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#state = 'ended';
    this.#timer.cancel();
    this.#events.onHeld(this, -this.heldOctets);
    this.#events.onEnd(this, this.#reason);
  }

  #watchTime(): Timer {
    const now = this.#clock.monotonic();
    const { idleMilliseconds, writeMilliseconds = idleMilliseconds, ageMilliseconds } = this.#limits;
    // What it waits for may be another thing before the time is over.
    const due = Math.min(
      this.lastActive + this.#maxInactive,
      now + Math.min(idleMilliseconds, writeMilliseconds),
      this.#opened + ageMilliseconds,
    );
    return this.#clock.after(Math.max(1, due - now), () => this.#onTime());
  }

  /** How long it may go on as it is now, in milliseconds since it was last of use. */
  get #maxInactive(): number {
    const { idleMilliseconds, readMilliseconds, writeMilliseconds } = this.#limits;
    if (this.#socket.writableLength > 0) return writeMilliseconds ?? idleMilliseconds;
    return (this.queries === 0 ? readMilliseconds : undefined) ?? idleMilliseconds;
  }

  #onTime(): void {
    const now = this.#clock.monotonic();
    if (now - this.#opened >= this.#limits.ageMilliseconds) this.#end('age');
    else if (now - this.lastActive < this.#maxInactive) this.#timer = this.#watchTime();
    else if (this.#socket.writableLength > 0) this.destroy();
    else if (this.#owed > 0) this.#waitForAnswers();
    else this.#end('idle');
  }

  /** Owing answers, we are not idle: look again after another idle time. */
  #waitForAnswers(): void {
    this.lastActive = this.#clock.monotonic();
    this.#timer = this.#watchTime();
  }
}
