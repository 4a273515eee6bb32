/**
 * One client's connection: messages in, answers out as they are ready, in any order (RFC 7766 section 6.2.1.1).
 *
 * Reading stops while too many answers are owed or the client does not take those it has, so that nothing grows. A
 * connection that ends does so gently: no more is read, what is owed is sent, then FIN; what the client still sends is thrown
 * away, as closing over it would reset the connection and cost the client its answers.
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../ground/clock.ts';
import { FrameParser, frame } from '../wire/frames.ts';
import type { MessageAnswers } from './message-answers.ts';
import { type Client, DNS_OVER_TCP_LIMIT } from './types.ts';

export interface ConnectionLimits {
  /** How long a connection may go without a whole query while no answer is owed (RFC 7766 section 6.2.3). */
  readonly idleMilliseconds: number;
  /** After so many queries the client has to connect again, perhaps to another server. */
  readonly queries: number;
  readonly ageMilliseconds: number;
  /** Answers owed at once; what comes on top waits unread. */
  readonly owed: number;
  /** How long an ending connection may take to send what it owes and see the client's end. */
  readonly endingMilliseconds: number;
}

/** Why a connection ended. `error` is the client's own doing: a reset, or not reading its answers. */
export type EndReason = 'client' | 'garbage' | 'idle' | 'queries' | 'age' | 'leaving' | 'error';

/** `open` reads; `ending` sends what it owes and then FIN; `ended` has sent FIN, or is gone. */
type State = 'open' | 'ending' | 'ended';

const LEAST_MESSAGE_OCTETS = 12;

export class StreamConnection {
  /** Whole queries received. */
  queries = 0;
  readonly #socket: Socket;
  readonly #client: Client;
  readonly #answers: MessageAnswers;
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #onEnd: (connection: StreamConnection, reason: EndReason) => void;
  readonly #parser = new FrameParser();
  readonly #opened: number;
  #mostQueries: number;
  #state: State = 'open';
  #reason: EndReason = 'error';
  #owed = 0;
  #lastActive: number;
  #clientEnded = false;
  #timer: Timer;

  /** @param onEnd called once, when the connection is gone */
  constructor(
    socket: Socket,
    client: Client,
    answers: MessageAnswers,
    limits: ConnectionLimits,
    clock: Clock,
    onEnd: (connection: StreamConnection, reason: EndReason) => void,
  ) {
    this.#socket = socket;
    this.#client = client;
    this.#answers = answers;
    this.#limits = limits;
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#mostQueries = limits.queries;
    this.#opened = clock.monotonic();
    this.#lastActive = this.#opened;
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
    else this.#mostQueries = 1;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(chunk: Uint8Array): void {
    if (this.#state !== 'open') return;
    this.#parser.push(chunk);
    this.#serve();
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
    return this.#owed < this.#limits.owed && !this.#socket.writableNeedDrain;
  }

  #serveMessage(message: Uint8Array): void {
    if (message.length < LEAST_MESSAGE_OCTETS) {
      this.#end('garbage');
      return;
    }
    this.queries++;
    this.#lastActive = this.#clock.monotonic();
    const answer = this.#answers.answer(message, this.#client, DNS_OVER_TCP_LIMIT);
    if (answer.kind === 'response') this.#write(answer.response);
    else if (answer.kind === 'later') void this.#writeLater(answer.response);
    else this.#end('garbage');
    if (this.queries >= this.#mostQueries) this.#end('queries');
  }

  async #writeLater(coming: Promise<Uint8Array | undefined>): Promise<void> {
    this.#owed++;
    const response = await coming;
    this.#owed--;
    if (response !== undefined) this.#write(response);
    this.#onProgress();
  }

  #write(response: Uint8Array): void {
    if (this.#state !== 'ended') this.#socket.write(frame(response));
  }

  /** An answer was sent, or the client has taken what was. */
  #onProgress(): void {
    this.#lastActive = this.#clock.monotonic();
    if (this.#state === 'open') this.#serve();
    else this.#endIfNothingOwed();
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
    this.#state = 'ended';
    this.#timer.cancel();
    this.#onEnd(this, this.#reason);
  }

  #watchTime(): Timer {
    const now = this.#clock.monotonic();
    const due = Math.min(
      this.#lastActive + this.#limits.idleMilliseconds,
      this.#opened + this.#limits.ageMilliseconds,
    );
    return this.#clock.after(Math.max(1, due - now), () => this.#onTime());
  }

  #onTime(): void {
    const now = this.#clock.monotonic();
    if (now - this.#opened >= this.#limits.ageMilliseconds) this.#end('age');
    else if (now - this.#lastActive < this.#limits.idleMilliseconds) this.#timer = this.#watchTime();
    else if (this.#socket.writableLength > 0) this.destroy();
    else if (this.#owed > 0) this.#waitForAnswers();
    else this.#end('idle');
  }

  /** Owing answers, we are not idle: look again after another idle time. */
  #waitForAnswers(): void {
    this.#lastActive = this.#clock.monotonic();
    this.#timer = this.#watchTime();
  }
}
