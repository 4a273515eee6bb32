/**
 * Sends items to a collector over HTTP: in batches, one request at a time, in bounded memory. What a collector does never delays a query;
 * items that it does not take are counted.
 */
import type { Clock, Timer } from '../clock.ts';
import { describeError } from '../describe-error.ts';
import type { Post } from './http-post.ts';

/** What an exporter holds. */
export interface ExportBounds {
  /** Items that wait. Beyond it, the oldest are dropped. */
  readonly waiting: number;
  /** Items of one request. */
  readonly batch: number;
  /** Milliseconds that an item waits for others. */
  readonly linger: number;
}

/** What becomes of the items, for logs and metrics. */
export interface ExportEvents {
  /** The collector has a batch. @param dropped items since the last one that it has */
  sent(items: number, dropped: number): void;
  /** The collector does not take a batch, whose items are dropped. */
  failed(reason: string): void;
  dropped?(items: number): void;
}

export interface BatchExporterOptions<Item> {
  readonly bounds: ExportBounds;
  /** The body of a request. */
  readonly encode: (items: readonly Item[]) => string;
  readonly post: Post;
  readonly events: ExportEvents;
  readonly clock: Clock;
}

/** Attempts for a batch, and milliseconds before the second; the pause doubles. */
const ATTEMPTS = 5;
const FIRST_PAUSE = 1_000;
const MAX_PAUSE = 30_000;
/** Milliseconds that the last batch may take when the server stops. */
const LAST_WAIT = 2_000;
/** Statuses after which a client tries again, by the specification of OTLP. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export class BatchExporter<Item> {
  readonly #options: BatchExporterOptions<Item>;
  /** Those before `#first` are gone. */
  #waiting: Item[] = [];
  #first = 0;
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  #isStopping = false;
  #dropped = 0;
  /** As of the last batch that the collector got. */
  #reported = 0;
  /** Ends a pause between two attempts. */
  #hurry: () => void = () => {};

  constructor(options: BatchExporterOptions<Item>) {
    this.#options = options;
  }

  /** Items that the collector did not get. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Sends an item with the next batch. */
  add(item: Item): void {
    const { bounds, clock } = this.#options;
    if (this.#isStopping) {
      this.drop(1);
      return;
    }
    if (this.#count >= bounds.waiting) this.#dropOldest();
    this.#waiting.push(item);
    if (this.#count >= bounds.batch) this.#send();
    else this.#timer ??= clock.after(bounds.linger, () => this.#send());
  }

  /** Counts items that were lost on the way here. */
  drop(count: number): void {
    if (count === 0) return;
    this.#dropped += count;
    this.#options.events.dropped?.(count);
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
    this.drop(this.#take(this.#count).length);
  }

  get #count(): number {
    return this.#waiting.length - this.#first;
  }

  /** Moves the others up only now and then, so that an outage costs no more than the dropped items. */
  #dropOldest(): void {
    this.#first += 1;
    this.drop(1);
    if (this.#first < this.#options.bounds.waiting) return;
    this.#waiting = this.#waiting.slice(this.#first);
    this.#first = 0;
  }

  #take(count: number): readonly Item[] {
    const taken = this.#waiting.slice(this.#first, this.#first + count);
    this.#waiting = this.#waiting.slice(this.#first + count);
    this.#first = 0;
    return taken;
  }

  async #sendRest(): Promise<void> {
    await this.#sending;
    while (this.#count > 0) await this.#sendBatch(this.#take(this.#options.bounds.batch));
  }

  #send(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const { bounds, clock } = this.#options;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#count > 0 && !this.#isStopping)
        this.#timer ??= clock.after(bounds.linger, () => this.#send());
    });
  }

  async #sendAll(): Promise<void> {
    const { batch } = this.#options.bounds;
    do await this.#sendBatch(this.#take(batch));
    while (this.#count >= batch && !this.#isStopping);
  }

  async #sendBatch(items: readonly Item[]): Promise<void> {
    const { encode, post, events } = this.#options;
    const body = encode(items);
    let pause = FIRST_PAUSE;
    for (let attempt = 1; ; attempt += 1) {
      const { fault, isToRetry, retryAfter } = await attemptPost(post, body);
      if (fault === undefined) {
        events.sent(items.length, this.#dropped - this.#reported);
        this.#reported = this.#dropped;
        return;
      }
      if (!isToRetry || attempt === ATTEMPTS || this.#isStopping) {
        this.drop(items.length);
        events.failed(fault);
        return;
      }
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
}

interface PostOutcome {
  /** Undefined: the collector has the items. */
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
