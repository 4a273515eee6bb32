/**
 * Reads and watches the keys below a prefix, over and over. After a failure it waits with jitter, so that many servers do not
 * reconnect to a restarted etcd at the same moment.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { OutageLog } from '@portolan/kernel/base/outage-log.ts';
import { type EtcdError, type EtcdFailure, toEtcdError } from '../client/etcd-error.ts';
import type { KeyReader, KeySink } from './key-reader.ts';

export interface FeedStats {
  /** How often all keys were read. */
  readonly reads: number;
  /** Failed attempts to read or watch. */
  readonly failures: number;
  /** Milliseconds since the keys were current; 0: they are. Undefined: not read yet. */
  readonly age: number | undefined;
}

/** Milliseconds; a wait is drawn between half and all of it. */
const MIN_WAIT = 200;
const MAX_WAIT = 1_000;
/** After a refusal etcd is asked less often. */
const MAX_REFUSED_WAIT = 10_000;

export class KeyFeed {
  readonly #clock: Clock;
  readonly #outages: OutageLog;
  #reader: KeyReader | undefined;
  #mustRead = true;
  #reads = 0;
  #failures = 0;
  /** Consecutive failures of one kind. */
  #inARow = 0;
  #lastFailure: EtcdFailure | undefined;
  #currentUntil: number | undefined;
  #isCurrent = false;
  #isStopped = false;
  #timer: Timer | undefined;
  #wake: () => void = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#outages = new OutageLog(log, clock, { failed: 'etcd not followed', ended: 'etcd followed again' });
  }

  /** @param reader closed by `stop`. @param onFailure called after each failed attempt */
  start(reader: KeyReader, sink: KeySink, onFailure: () => void = () => {}): void {
    this.#reader = reader;
    this.#running = this.#run(reader, sink, onFailure);
  }

  /** After the promise resolves, the sink is not called any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#reader?.close();
    this.#timer?.cancel();
    this.#wake();
    await this.#running;
  }

  stats(): FeedStats {
    const since = this.#currentUntil;
    const now = this.#clock.monotonic();
    const age = this.#isCurrent ? 0 : since === undefined ? undefined : now - since;
    return { reads: this.#reads, failures: this.#failures, age };
  }

  async #run(reader: KeyReader, sink: KeySink, onFailure: () => void): Promise<void> {
    while (!this.#isStopped) {
      try {
        if (this.#mustRead) await this.#read(reader, sink);
        await reader.watch(sink, () => this.#current(reader));
      } catch (cause) {
        const error = toEtcdError(cause);
        this.#lost();
        if (this.#isStopped || error.failure === 'closed') return;
        this.#failures += 1;
        onFailure();
        await this.#recover(error);
      }
    }
  }

  async #read(reader: KeyReader, sink: KeySink): Promise<void> {
    await reader.read(sink);
    this.#reads += 1;
    this.#mustRead = false;
    this.#currentUntil = this.#clock.monotonic();
  }

  #current({ endpoint }: KeyReader): void {
    this.#isCurrent = true;
    this.#inARow = 0;
    this.#outages.ended({ endpoint });
  }

  #lost(): void {
    if (this.#isCurrent) this.#currentUntil = this.#clock.monotonic();
    this.#isCurrent = false;
  }

  async #recover({ failure, message }: EtcdError): Promise<void> {
    if (failure === 'compacted') this.#mustRead = true;
    this.#outages.failed(failure, { reason: message });
    const limit = failure === 'unavailable' || failure === 'compacted' ? MAX_WAIT : MAX_REFUSED_WAIT;
    // A restarted member refuses the old token: after this new kind of failure, retry soon, with a new token.
    if (failure !== this.#lastFailure) this.#inARow = 0;
    this.#lastFailure = failure;
    const wait = Math.min(limit, MIN_WAIT * 2 ** this.#inARow);
    this.#inARow = Math.min(this.#inARow + 1, 16);
    await this.#sleep(wait * (0.5 + Math.random() / 2));
  }

  #sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#timer = this.#clock.after(milliseconds, resolve);
    });
  }
}
