/**
 * Sends records of one signal to a collector, by OTLP over HTTP: in batches, one request at a time, in bounded memory. What a collector
 * does never delays a query; records that it does not take are counted.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { OtlpSignal } from '../../settings/otlp/otlp-settings.ts';
import { encodeOtlp, type Origin, type RecordsOf } from './otlp-message.ts';

/** The status of a response, and its header `retry-after` in seconds. @throws Error when there is none */
export type Post = (
  body: string,
) => Promise<{ readonly status: number; readonly retryAfter: number | undefined }>;

export interface OtlpExporterOptions<Signal extends OtlpSignal> {
  readonly signal: Signal;
  /** For messages. */
  readonly endpoint: string;
  readonly origin: Origin;
  readonly post: Post;
  readonly clock: Clock;
  readonly log: Log;
}

/** Records that wait; further ones are dropped. */
const MAX_WAITING = 2_048;
const BATCH = 512;
/** Milliseconds that a record waits for others. */
const LINGER = 1_000;
/** Attempts for a batch, and milliseconds before the second; the pause doubles. */
const ATTEMPTS = 5;
const FIRST_PAUSE = 1_000;
const MAX_PAUSE = 30_000;
/** Milliseconds that the last batch may take when the server stops. */
const LAST_WAIT = 2_000;
/** Statuses after which a client tries again, by the specification. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export class OtlpExporter<Signal extends OtlpSignal> {
  readonly #options: OtlpExporterOptions<Signal>;
  readonly #waiting: RecordsOf[Signal][] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  #isStopping = false;
  #dropped = 0;
  /** As of the last line of the log. */
  #reported = 0;
  #isFailing = false;
  /** Ends a pause between two attempts. */
  #hurry: () => void = () => {};

  constructor(options: OtlpExporterOptions<Signal>) {
    this.#options = options;
  }

  /** Records that the collector did not get. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Sends a record with the next batch. */
  add(record: RecordsOf[Signal]): void {
    if (this.#waiting.length >= MAX_WAITING || this.#isStopping) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(record);
    if (this.#waiting.length >= BATCH) this.#send();
    else this.#timer ??= this.#options.clock.after(LINGER, () => this.#send());
  }

  /** Counts records that were lost on the way here. */
  drop(count: number): void {
    this.#dropped += count;
  }

  /** Sends what waits, once. A collector that does not answer is not waited for long. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#timer?.cancel();
    this.#hurry();
    let last: Timer | undefined;
    const isOver = new Promise<void>((resolve) => {
      last = this.#options.clock.after(LAST_WAIT, resolve);
    });
    await Promise.race([this.#sendRest(), isOver]);
    last?.cancel();
  }

  async #sendRest(): Promise<void> {
    await this.#sending;
    const rest = this.#waiting.splice(0);
    if (rest.length > 0) await this.#sendBatch(rest);
  }

  #send(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length > 0 && !this.#isStopping)
        this.#timer ??= this.#options.clock.after(LINGER, () => this.#send());
    });
  }

  async #sendAll(): Promise<void> {
    do await this.#sendBatch(this.#waiting.splice(0, BATCH));
    while (this.#waiting.length >= BATCH && !this.#isStopping);
  }

  async #sendBatch(records: readonly RecordsOf[Signal][]): Promise<void> {
    const { signal, origin, post } = this.#options;
    const body = encodeOtlp(signal, records, origin);
    let pause = FIRST_PAUSE;
    for (let attempt = 1; ; attempt += 1) {
      const { fault, isToRetry, retryAfter } = await attemptPost(post, body);
      if (fault === undefined) return this.#succeeded();
      if (!isToRetry || attempt === ATTEMPTS || this.#isStopping) return this.#failed(records.length, fault);
      await this.#rest(Math.min(retryAfter === undefined ? pause : retryAfter * 1000, MAX_PAUSE));
      pause *= 2;
    }
  }

  #rest(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(milliseconds, resolve);
      this.#hurry = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  #succeeded(): void {
    const { signal, endpoint, log } = this.#options;
    const lost = this.#dropped - this.#reported;
    if (this.#isFailing) log.info('otlp: exporting again', { signal, endpoint, dropped: lost });
    else if (lost > 0)
      log.warn('otlp: records dropped, there were too many', { signal, endpoint, dropped: lost });
    this.#isFailing = false;
    this.#reported = this.#dropped;
  }

  #failed(records: number, reason: string): void {
    const { signal, endpoint, log } = this.#options;
    this.#dropped += records;
    if (!this.#isFailing) log.warn('otlp: cannot export', { signal, endpoint, reason });
    this.#isFailing = true;
  }
}

interface PostOutcome {
  /** Undefined: the collector has the records. */
  readonly fault: string | undefined;
  readonly isToRetry: boolean;
  /** Seconds. */
  readonly retryAfter: number | undefined;
}

async function attemptPost(post: Post, body: string): Promise<PostOutcome> {
  try {
    const { status, retryAfter } = await post(body);
    const fault = status >= 200 && status < 300 ? undefined : `status ${status}`;
    return { fault, isToRetry: RETRIED.has(status), retryAfter };
  } catch (error) {
    const fault = describeError(error);
    return { fault, isToRetry: true, retryAfter: undefined };
  }
}
