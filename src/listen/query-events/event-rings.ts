/**
 * The rings of query events of a process: one per reader thread, and one for the main thread.
 */
import { type EventMode, makeEventRing, setEventMode } from './event-ring.ts';
import { MainThreadEvents } from './main-events.ts';

export class QueryEventRings {
  readonly #readers: readonly SharedArrayBuffer[];
  readonly #main = makeEventRing();
  /** The main thread's writer. */
  readonly main: MainThreadEvents = new MainThreadEvents(this.#main);

  /** @param readers how many reader threads there are */
  constructor(readers: number) {
    this.#readers = Array.from({ length: readers }, () => makeEventRing());
  }

  /** The ring of a reader thread, by its number from 0. */
  ofReader(index: number): SharedArrayBuffer | undefined {
    return this.#readers[index];
  }

  /** For the consumer; there must be only one. */
  get all(): readonly SharedArrayBuffer[] {
    return [...this.#readers, this.#main];
  }

  /** Sets what reader threads record from their next batch on. */
  setReaderMode(mode: EventMode): void {
    for (const memory of this.#readers) setEventMode(memory, mode);
  }

  /** Sets what all threads record from the next batch on. */
  setMode(mode: EventMode): void {
    for (const memory of this.all) setEventMode(memory, mode);
  }
}
