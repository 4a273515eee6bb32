/**
 * The rings of query events of a process: one per reader thread, and one for the main thread.
 */
import { EVENT_MODE, type EventMode, makeEventRing, setEventMode, setEventSampling } from './event-ring.ts';
import { MainThreadEvents } from './main-events.ts';

export class QueryEventRings {
  readonly #readers: readonly SharedArrayBuffer[];
  readonly #main = makeEventRing();
  #readerMode: EventMode = EVENT_MODE.OFF;
  #mainMode: EventMode = EVENT_MODE.OFF;
  #hasConsumer = false;
  #tapMode: EventMode = EVENT_MODE.OFF;
  #sampling = 0;
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

  /** The ring of the main thread. */
  get ofMain(): SharedArrayBuffer {
    return this.#main;
  }

  /** For the consumer; there must be only one. */
  get all(): readonly SharedArrayBuffer[] {
    return [...this.#readers, this.#main];
  }

  /**
   * Sets what threads record for the consumer from their next batch on. It takes out the events of all rings, whatever it wants.
   *
   * @param main for the main thread; default: the same
   */
  setMode(readers: EventMode, main: EventMode = readers): void {
    this.#readerMode = readers;
    this.#mainMode = main;
    this.#hasConsumer = true;
    this.#apply();
  }

  /** The consumer has ended: nothing is recorded for it, and a tap takes events out. */
  consumerEnded(): void {
    this.setMode(EVENT_MODE.OFF);
    this.#hasConsumer = false;
  }

  /** Whether a consumer takes out the events; otherwise a tap must. */
  get hasConsumer(): boolean {
    return this.#hasConsumer;
  }

  /**
   * Makes all threads record events while somebody watches, whether or not there is a consumer.
   *
   * @param mode at least; OFF: nobody watches
   * @param sampling as `SAMPLING`, where no consumer wants events; 0: all events
   */
  setTapped(mode: EventMode, sampling = 0): void {
    this.#tapMode = mode;
    this.#sampling = sampling;
    this.#apply();
  }

  #apply(): void {
    for (const memory of this.#readers) this.#applyTo(memory, this.#readerMode);
    this.#applyTo(this.#main, this.#mainMode);
  }

  #applyTo(memory: SharedArrayBuffer, mode: EventMode): void {
    setEventMode(memory, mode > this.#tapMode ? mode : this.#tapMode);
    setEventSampling(memory, mode === EVENT_MODE.OFF ? this.#sampling : 0);
  }
}
