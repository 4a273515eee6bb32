/**
 * One client's flood of random names beside another client, both from one thread, and the upstream server that answers
 * them at once, in another.
 */
import { Worker } from 'node:worker_threads';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { onTestFinished } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { type FloodPlan, MAX_ASKED, NUMBERS, WORD } from './flood-plan.ts';

interface PromiseThreads {
  readonly flood: URL;
  readonly upstream: URL;
}

let threads: PromiseThreads | undefined;

/** For `beforeAll`: the threads of this file as files that a worker runs. */
export async function bundlePromiseThreads(): Promise<void> {
  const [flood, upstream] = await Promise.all([
    bundleThread('test/promises/flood-thread.ts'),
    bundleThread('test/promises/upstream-thread.ts'),
  ]);
  threads = { flood, upstream };
}

/** A question of the other client. */
export interface AskedBeside {
  /** Of the server's processor time until the answer came. Infinity: without an answer. */
  readonly milliseconds: number;
  /** Answers that the flood got in between. */
  readonly behind: number;
}

/** A thread that ends with the test. */
class CountingThread {
  readonly #words = new Int32Array(new SharedArrayBuffer(WORD.WORDS * 4));
  readonly #asked = new Float64Array(new SharedArrayBuffer(MAX_ASKED * NUMBERS * 8));
  readonly #ended: Promise<unknown>;

  constructor(entry: URL, plan: unknown) {
    const workerData = { plan, words: this.#words.buffer, asked: this.#asked.buffer };
    const worker = new Worker(entry, { workerData });
    this.#ended = new Promise((resolve) => worker.once('exit', resolve));
    onTestFinished(() => this.stop());
  }

  get port(): number {
    return Atomics.load(this.#words, WORD.PORT);
  }

  get sent(): number {
    return Atomics.load(this.#words, WORD.SENT);
  }

  get answered(): number {
    return Atomics.load(this.#words, WORD.ANSWERED);
  }

  /** The questions of the other client, so far. */
  get asked(): readonly AskedBeside[] {
    const count = Atomics.load(this.#words, WORD.ASKED);
    return Array.from({ length: count }, (_, index) => ({
      milliseconds: this.#asked[index * NUMBERS] ?? Number.NaN,
      behind: this.#asked[index * NUMBERS + 1] ?? Number.NaN,
    }));
  }

  async stop(): Promise<void> {
    Atomics.store(this.#words, WORD.STOP, 1);
    await this.#ended;
  }
}

/** An upstream server that answers every question with an address or a text, at once. */
export async function startUpstreamThread(): Promise<CountingThread> {
  const thread = new CountingThread(bundledThreads().upstream, undefined);
  await waitUntil('the upstream server', () => thread.port > 0);
  return thread;
}

export async function startFlood(plan: FloodPlan): Promise<CountingThread> {
  const thread = new CountingThread(bundledThreads().flood, plan);
  await waitUntil('the flood', () => thread.sent > 0);
  return thread;
}

function bundledThreads(): PromiseThreads {
  if (threads === undefined) throw new Error('call bundlePromiseThreads first');
  return threads;
}
