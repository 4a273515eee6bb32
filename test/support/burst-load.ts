/**
 * Load like that of many clients: bursts of questions, many of them outstanding at once, from a thread of its own so that it
 * continues while the test's thread is busy. Each answer is compared with its question.
 */
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

export interface LoadQuestion {
  /** Of type A. */
  readonly name: string;
  /** An IPv4 address, or a response code. */
  readonly answer: string;
}

export interface BurstPlan {
  readonly address: string;
  readonly port: number;
  readonly questions: readonly LoadQuestion[];
  /** Each asks from a port of its own, so that every reader has its share. */
  readonly sockets: number;
  /** Questions that are sent at a stretch, fewer while many are unanswered, and milliseconds from one burst to the next. */
  readonly burst: number;
  readonly every: number;
}

/** Where the counts stand in the memory that both threads share. */
export const COUNT = { STOP: 0, ASKED: 1, ANSWERED: 2, LOST: 3, WRONG: 4, REFUSED: 5, SLOWEST: 6 } as const;
const COUNTS = Object.keys(COUNT).length;

export interface BurstData extends BurstPlan {
  readonly counts: SharedArrayBuffer;
}

export class BurstLoad {
  readonly #counts: Int32Array;
  readonly #ended: Promise<void>;
  #failure: unknown;

  /** @param entry from `bundleBurstLoad`; the load ends with the test */
  constructor(entry: URL, plan: BurstPlan) {
    const counts = new SharedArrayBuffer(COUNTS * Int32Array.BYTES_PER_ELEMENT);
    this.#counts = new Int32Array(counts);
    const worker = new Worker(entry, { workerData: { ...plan, counts } satisfies BurstData });
    worker.on('error', (error) => {
      this.#failure = error;
    });
    this.#ended = new Promise((resolve) => worker.once('exit', () => resolve()));
    onTestFinished(() => this.stop());
  }

  get asked(): number {
    return this.#read(COUNT.ASKED);
  }

  /** Answered in time and rightly. */
  get answered(): number {
    return this.#read(COUNT.ANSWERED);
  }

  /** Unanswered for ten seconds. */
  get lost(): number {
    return this.#read(COUNT.LOST);
  }

  /** Answered with another question, or another answer; or answered twice. */
  get wrong(): number {
    return this.#read(COUNT.WRONG);
  }

  /** Times that the kernel said that the port is closed. */
  get refused(): number {
    return this.#read(COUNT.REFUSED);
  }

  /** The longest that an answer took since the last look, in milliseconds. */
  takeSlowest(): number {
    return Atomics.exchange(this.#counts, COUNT.SLOWEST, 0) / 1000;
  }

  /** Waits for the last answers. */
  async stop(): Promise<void> {
    Atomics.store(this.#counts, COUNT.STOP, 1);
    await this.#ended;
    if (this.#failure !== undefined) throw this.#failure;
  }

  #read(count: number): number {
    return Atomics.load(this.#counts, count);
  }
}
