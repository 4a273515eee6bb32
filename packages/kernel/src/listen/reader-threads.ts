/**
 * Starts reader threads, with their data or ahead of it. A thread that is started ahead loads its code while the main
 * thread loads its own and reads the configuration.
 */
import { type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { describeError } from '../base/describe-error.ts';
import type { ReaderData } from './reader-loop.ts';
import type { StartThread } from './udp-reader.ts';

/** The start parameter of a prepared thread: an `Int32Array` of one word, which becomes 1 once the data is posted. */
interface Announced {
  readonly announced: SharedArrayBuffer;
}

/** @param entry the built `reader-thread.ts` */
export function makeStartThread(entry: URL): StartThread {
  return (data) => startWorker(entry, data, data.reader);
}

/** @throws Error where the system gives no thread */
function startWorker(entry: URL, workerData: ReaderData | Announced, reader: number): Worker {
  // Without our options: for example, a debugger's port belongs to the main thread.
  try {
    return new Worker(entry, { workerData, execArgv: [], name: `reader ${reader}` });
  } catch (error) {
    const reason = describeError(error);
    throw new Error(
      `cannot start a thread: ${reason}. Raise the limit of processes of the container or user.`,
    );
  }
}

/** A thread that is started before its data is known. */
export class PreparedReader {
  readonly #announced = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  /** Undefined: taken, or ended. */
  #worker: Worker | undefined;

  /** @param entry the built `reader-thread.ts` */
  constructor(entry: URL) {
    const worker = startWorker(entry, { announced: this.#announced }, 0);
    // A process that finds nothing to serve can exit without it.
    worker.unref();
    // If it cannot start, the thread that replaces it reports the error.
    worker.on('error', () => this.#forget());
    worker.on('exit', () => this.#forget());
    this.#worker = worker;
  }

  /** Whether there is a thread to take. */
  get isWaiting(): boolean {
    return this.#worker !== undefined;
  }

  /** @returns the thread, which works with this data from now on; undefined if it was taken or has ended */
  take(data: ReaderData): Worker | undefined {
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker === undefined) return undefined;
    worker.ref();
    worker.postMessage(data);
    const word = new Int32Array(this.#announced);
    Atomics.store(word, 0, 1);
    Atomics.notify(word, 0);
    return worker;
  }

  /** Ends the thread if it was not taken. */
  async end(): Promise<void> {
    await this.#worker?.terminate();
  }

  #forget(): void {
    this.#worker = undefined;
  }
}

/**
 * The data of a reader thread; a prepared one waits for it here. Its event loop does not run meanwhile: messages posted
 * after the data stay queued until the reader reads them.
 *
 * @param workerData from `PreparedReader` or `UdpReader`, which are the only ones to start this entry
 */
export function receiveReaderData(workerData: unknown, port: MessagePort): ReaderData {
  const start = workerData as ReaderData | Announced;
  if (!('announced' in start)) return start;
  Atomics.wait(new Int32Array(start.announced), 0, 0);
  return receiveMessageOnPort(port)?.message as ReaderData;
}
