/**
 * How reader threads are started: with what they serve, or before that is known, so that a thread loads its code while the main
 * thread loads its own and reads the configuration.
 */
import { type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { ReaderData } from './reader-loop.ts';
import type { StartThread } from './udp-reader.ts';

/** What a reader thread is started with, in place of its data: an `Int32Array` of one word, which is 1 once the data is posted. */
interface Announced {
  readonly announced: SharedArrayBuffer;
}

/** @param entry the built `reader-thread.ts` */
export function startThreadOf(entry: URL): StartThread {
  return (data) => startWorker(entry, data, data.reader);
}

function startWorker(entry: URL, workerData: ReaderData | Announced, reader: number): Worker {
  // Without our options: a debugger's port, for one, is the main thread's.
  return new Worker(entry, { workerData, execArgv: [], name: `reader ${reader}` });
}

/** A thread that was started before it is known what it will serve. */
export class PreparedReader {
  readonly #announced = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  /** Undefined: taken, or it has ended. */
  #worker: Worker | undefined;

  /** @param entry the built `reader-thread.ts` */
  constructor(entry: URL) {
    const worker = startWorker(entry, { announced: this.#announced }, 0);
    // A process that turns out to have nothing to serve ends without it.
    worker.unref();
    // What keeps this one from starting is reported by the one that is started in its place.
    worker.on('error', () => this.#forget());
    worker.on('exit', () => this.#forget());
    this.#worker = worker;
  }

  /** Whether there is a thread that nobody has taken. */
  get isWaiting(): boolean {
    return this.#worker !== undefined;
  }

  /** @returns the thread, which works with this data from now on; undefined if there is none any more */
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

  /** Ends the thread unless it was taken. */
  async end(): Promise<void> {
    await this.#worker?.terminate();
  }

  #forget(): void {
    this.#worker = undefined;
  }
}

/**
 * What a reader thread is to work with, which a prepared one waits for. Its event loop does not run meanwhile: of what is posted
 * after the data, nothing is delivered before the reader looks for it.
 *
 * @param workerData as `PreparedReader` or `UdpReader` has set it, the only ones to start the entry
 */
export function receiveReaderData(workerData: unknown, port: MessagePort): ReaderData {
  const start = workerData as ReaderData | Announced;
  if (!('announced' in start)) return start;
  Atomics.wait(new Int32Array(start.announced), 0, 0);
  return receiveMessageOnPort(port)?.message as ReaderData;
}
