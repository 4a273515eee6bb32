/**
 * The rings of query events of a process: one per reader thread, and one of the main thread.
 */
import { type EventMode, makeEventRing, setEventMode } from './event-ring.ts';
import { MainThreadEvents } from './main-events.ts';

export class QueryEventRings {
  readonly #readers: readonly SharedArrayBuffer[];
  readonly #main = makeEventRing();
  /** What the main thread writes to. */
  readonly main: MainThreadEvents = new MainThreadEvents(this.#main);

  /** @param readers how many reader threads there are */
  constructor(readers: number) {
    this.#readers = Array.from({ length: readers }, () => makeEventRing());
  }

  /** The ring of a reader thread, by its number from 0. */
  ofReader(index: number): SharedArrayBuffer | undefined {
    return this.#readers[index];
  }

  /** For a consumer, of which there may be one. */
  get all(): readonly SharedArrayBuffer[] {
    return [...this.#readers, this.#main];
  }

  /** Says what reader threads are to write from their next batch on. */
  setReaderMode(mode: EventMode): void {
    for (const memory of this.#readers) setEventMode(memory, mode);
  }

  /** Says what is to be written from the next batch on. */
  setMode(mode: EventMode): void {
    for (const memory of this.all) setEventMode(memory, mode);
  }
}
