/**
 * Reads and watches, again and again: what both versions of the API have in common. After a failure it waits with jitter, so that
 * many servers do not come back to a restarted etcd in one moment.
 */
import type { Clock, Timer } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { OutageLog } from '../../../base/outage-log.ts';
import { type EtcdError, toEtcdError } from '../client/etcd-error.ts';
import type { FeedStats } from './key-feed.ts';

export interface Followed {
  /** Reads all keys. @throws EtcdError */
  read(): Promise<void>;
  /** Tells changes behind what was read, and calls `onCurrent` once they are told as they come. Ends by an error alone. @throws EtcdError */
  watch(onCurrent: () => void): Promise<never>;
  readonly endpoint: string;
}

/** Milliseconds, of which a wait is drawn between half and all. */
const MIN_WAIT = 200;
const MAX_WAIT = 1_000;
/** Where etcd refuses, it need not be asked so often. */
const MAX_REFUSED_WAIT = 10_000;

export class ConnectionLoop {
  readonly #followed: Followed;
  readonly #clock: Clock;
  readonly #outages: OutageLog;
  #mustRead = true;
  #reads = 0;
  #failures = 0;
  #inARow = 0;
  #currentUntil: number | undefined;
  #isCurrent = false;
  #isStopped = false;
  #timer: Timer | undefined;
  #wake: () => void = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(followed: Followed, clock: Clock, log: Log) {
    this.#followed = followed;
    this.#clock = clock;
    this.#outages = new OutageLog(log, clock, { failed: 'etcd not followed', ended: 'etcd followed again' });
  }

  start(): void {
    this.#running = this.#run();
  }

  /** @param interrupt ends what is under way */
  async stop(interrupt: () => void): Promise<void> {
    this.#isStopped = true;
    interrupt();
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

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        if (this.#mustRead) await this.#read();
        await this.#followed.watch(() => this.#current());
      } catch (cause) {
        const error = toEtcdError(cause);
        this.#lost();
        if (this.#isStopped || error.failure === 'closed') return;
        await this.#recover(error);
      }
    }
  }

  async #read(): Promise<void> {
    await this.#followed.read();
    this.#reads += 1;
    this.#mustRead = false;
    this.#currentUntil = this.#clock.monotonic();
  }

  #current(): void {
    this.#isCurrent = true;
    this.#inARow = 0;
    this.#outages.ended({ endpoint: this.#followed.endpoint });
  }

  #lost(): void {
    if (this.#isCurrent) this.#currentUntil = this.#clock.monotonic();
    this.#isCurrent = false;
  }

  async #recover({ failure, message }: EtcdError): Promise<void> {
    this.#failures += 1;
    if (failure === 'compacted') this.#mustRead = true;
    this.#outages.failed(failure, { reason: message });
    const limit = failure === 'unavailable' || failure === 'compacted' ? MAX_WAIT : MAX_REFUSED_WAIT;
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
