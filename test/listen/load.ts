/**
 * Load from a thread of its own, so that it goes on while the test's thread is busy.
 */
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

export const LOAD = { STOP: 0, ASKED: 1, ANSWERED: 2, LOST: 3 } as const;

export interface LoadPlan {
  readonly port: number;
  readonly address: string;
  /** How many sockets ask, each one question at a time. */
  readonly sockets: number;
  /** What they ask. Default: `fast.example`. */
  readonly name?: string;
  readonly counts: SharedArrayBuffer;
}

export interface Load {
  readonly asked: number;
  readonly answered: number;
  readonly lost: number;
  /** Waits for the last answers. */
  stop(): Promise<void>;
}

/** @param entry the bundled `load-thread.ts` */
export function startLoad(entry: URL, plan: Omit<LoadPlan, 'counts'>): Load {
  const memory = new SharedArrayBuffer(16);
  const counts = new Int32Array(memory);
  const worker = new Worker(entry, { workerData: { ...plan, counts: memory } satisfies LoadPlan });
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const load = {
    get asked() {
      return Atomics.load(counts, LOAD.ASKED);
    },
    get answered() {
      return Atomics.load(counts, LOAD.ANSWERED);
    },
    get lost() {
      return Atomics.load(counts, LOAD.LOST);
    },
    async stop() {
      Atomics.store(counts, LOAD.STOP, 1);
      await ended;
    },
  };
  onTestFinished(() => load.stop());
  return load;
}
