/**
 * One reader as the main thread sees it. Its sockets and shared memory live as long as the listener. A thread that dies
 * is replaced at once, or after a pause if another died before it. During a pause its sockets leave their ports to the
 * other readers.
 */
import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../base/clock.ts';
import { describeError } from '../base/describe-error.ts';
import { formatElapsed } from '../base/duration.ts';
import type { Log } from '../base/log.ts';
import { RateLimitedWarnings } from '../base/rate-limited-warning.ts';
import type { ReaderPolicy } from '../forward/reader-path/reader-policy.ts';
import type { BoundSocket } from '../socket/descriptor.ts';
import { ORDER, type ReaderData } from './reader-loop.ts';
import type { ThreadMessage } from './thread-messages.ts';

export type StartThread = (data: ReaderData) => Worker;

export interface UdpReaderEvents {
  /** Its ring may have questions without a wake-up. */
  onQuestions(): void;
  /** Its thread has died, perhaps in the middle of a batch; the next one starts after this returns. */
  onDead(reader: number): void;
  /** `isAlive` or `isPausing` has changed. */
  onChange(): void;
  /** The next thread is about to start; the sockets are unused now. */
  onRestart(reader: UdpReader): void;
}

type ThreadState =
  | { readonly kind: 'running'; readonly worker: Worker; readonly since: number }
  | { readonly kind: 'waiting'; readonly timer: Timer }
  | { readonly kind: 'ended' };

/** After living this long, a thread's death counts as the first: its successor starts at once. */
const SETTLED_MILLISECONDS = 1000;
const FIRST_PAUSE_MILLISECONDS = 50;
const MAX_PAUSE_MILLISECONDS = 5000;

export class UdpReader {
  readonly data: ReaderData;
  readonly sockets: readonly BoundSocket[];
  /** Threads that died and were replaced. */
  restarts = 0;
  /** Whether a thread receives on its sockets. */
  isAlive = false;
  /** Whether the kernel gives packets to its sockets; the listener maintains it. */
  isInGroup = true;
  /** Settles when the first thread is about to receive; rejects if it fails before. */
  readonly ready: Promise<void>;
  /** Settles when the thread has ended by order. */
  readonly ended: Promise<void>;

  readonly #startThread: StartThread;
  readonly #events: UdpReaderEvents;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #warnings: RateLimitedWarnings;
  readonly #orders: Int32Array;
  #state: ThreadState;
  #pause = 0;
  #lastError: unknown;
  #resolveReady: () => void = () => {};
  #rejectReady: ((error: unknown) => void) | undefined;
  #resolveEnded: () => void = () => {};

  constructor(
    data: ReaderData,
    sockets: readonly BoundSocket[],
    startThread: StartThread,
    events: UdpReaderEvents,
    dependencies: { readonly clock: Clock; readonly log: Log },
  ) {
    this.data = data;
    this.sockets = sockets;
    this.#startThread = startThread;
    this.#events = events;
    this.#clock = dependencies.clock;
    this.#log = dependencies.log;
    this.#warnings = new RateLimitedWarnings(dependencies.log, dependencies.clock);
    this.#orders = new Int32Array(data.orders);
    this.ready = new Promise((resolve, reject) => {
      this.#resolveReady = resolve;
      this.#rejectReady = reject;
    });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#state = this.#start();
  }

  /** Posts a forwarding policy to the thread; its successor starts with it. */
  post(policy: ReaderPolicy): void {
    if (this.#state.kind === 'running') this.#state.worker.postMessage(policy);
  }

  /** Lets a thread that was started on hold receive. */
  begin(): void {
    Atomics.compareExchange(this.#orders, 0, ORDER.HOLD, ORDER.RUN);
    Atomics.notify(this.#orders, 0);
  }

  /** Ends the thread after its batch, and leaves queued packets to another one. */
  halt(): void {
    this.#order(ORDER.STOP);
  }

  /** Lets the thread answer queued packets, then end. */
  drain(): void {
    this.#order(ORDER.DRAIN);
  }

  /** Ends the thread at once, whatever its state. */
  async terminate(): Promise<void> {
    this.#order(ORDER.STOP);
    if (this.#state.kind === 'running') await this.#state.worker.terminate();
  }

  #order(order: number): void {
    Atomics.store(this.#orders, 0, order);
    Atomics.notify(this.#orders, 0);
    if (this.#state.kind !== 'waiting') return;
    this.#state.timer.cancel();
    this.#end();
  }

  #start(): ThreadState {
    const worker = this.#startThread(this.data);
    worker.on('message', (message: ThreadMessage) => this.#receive(message));
    worker.on('error', (error) => {
      this.#lastError = error;
    });
    worker.on('exit', (code) => this.#onExit(code));
    return { kind: 'running', worker, since: this.#clock.monotonic() };
  }

  #receive(message: ThreadMessage): void {
    if (message.kind === 'ready') {
      this.#rejectReady = undefined;
      this.#resolveReady();
      this.isAlive = true;
      this.#events.onChange();
    } else if (message.kind === 'deaf') {
      const { reason } = message;
      this.#warnings.warn('UDP packets cannot be received', { reader: this.data.reader, reason });
    } else if (message.kind === 'flood') {
      const { client, share } = message;
      this.#warnings.warn('client floods: most of its packets are dropped', {
        client,
        letThrough: `1 in ${share}`,
      });
    } else if (message.kind === 'header') {
      this.#warnings.warn('PROXY header malformed or not allowed: packet dropped', {
        sender: message.sender,
      });
    } else {
      this.#log.error('internal error', {
        reader: this.data.reader,
        reason: message.reason,
      });
    }
  }

  #onExit(code: number): void {
    const lived = this.#state.kind === 'running' ? this.#clock.monotonic() - this.#state.since : 0;
    this.isAlive = false;
    this.#events.onDead(this.data.reader);
    if (this.#rejectReady !== undefined) {
      this.#rejectReady(
        this.#lastError ?? new Error(`a reader thread ended at its start: exit code ${code}`),
      );
      this.#end();
      return;
    }
    // Questions that it published without waking the main thread.
    this.#events.onQuestions();
    const order = Atomics.load(this.#orders, 0);
    if (order === ORDER.DRAIN || order === ORDER.STOP) {
      this.#end();
      return;
    }
    this.#pause = lived >= SETTLED_MILLISECONDS ? 0 : longer(this.#pause);
    this.restarts++;
    this.#log.error('reader thread died: restarting it', {
      reader: this.data.reader,
      code,
      reason: this.#lastError === undefined ? undefined : String(this.#lastError),
      pause: formatElapsed(this.#pause),
    });
    this.#lastError = undefined;
    this.#state = { kind: 'waiting', timer: this.#clock.after(this.#pause, () => this.#replace()) };
    this.#events.onChange();
  }

  /** Whether its first thread does not receive yet. */
  get isStarting(): boolean {
    return this.#rejectReady !== undefined;
  }

  /** Whether it pauses without a thread. */
  get isPausing(): boolean {
    return this.#state.kind === 'waiting' && this.#pause > 0;
  }

  #replace(): void {
    this.#events.onRestart(this);
    try {
      this.#state = this.#start();
    } catch (error) {
      const reason = describeError(error);
      this.#warnings.warn('reader thread not restarted', { reader: this.data.reader, reason });
      this.#pause = longer(this.#pause);
      this.#state = { kind: 'waiting', timer: this.#clock.after(this.#pause, () => this.#replace()) };
      this.#events.onChange();
    }
  }

  #end(): void {
    this.#state = { kind: 'ended' };
    this.#resolveEnded();
  }
}

function longer(pause: number): number {
  return Math.min(MAX_PAUSE_MILLISECONDS, Math.max(FIRST_PAUSE_MILLISECONDS, pause * 2));
}
