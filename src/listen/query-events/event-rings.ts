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
  #isTapped = false;
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

  /** For the consumer; there must be only one. */
  get all(): readonly SharedArrayBuffer[] {
    return [...this.#readers, this.#main];
  }

  /** Sets what reader threads record from their next batch on. */
  setReaderMode(mode: EventMode): void {
    this.#readerMode = mode;
    this.#apply();
  }

  /** Sets what all threads record from the next batch on. */
  setMode(mode: EventMode): void {
    this.#mainMode = mode;
    this.setReaderMode(mode);
  }

  /** The consumer of the readers' events has ended: from now on a tap takes them out. */
  consumerEnded(): void {
    this.#hasConsumer = false;
  }

  /** Whether a consumer takes out the events of a ring; otherwise a tap must. */
  hasConsumer(memory: SharedArrayBuffer): boolean {
    return this.#hasConsumer && (memory !== this.#main || this.#mainMode !== EVENT_MODE.OFF);
  }

  /**
   * Makes all threads record events while somebody watches, whether or not there is a consumer.
   *
   * @param sampling as `SAMPLING`, for rings without a consumer; 0: all events
   */
  setTapped(isTapped: boolean, sampling = 0): void {
    this.#isTapped = isTapped;
    this.#sampling = sampling;
    this.#apply();
  }

  #apply(): void {
    const least = this.#isTapped ? EVENT_MODE.QUERIES : EVENT_MODE.OFF;
    const moreOf = (mode: EventMode): EventMode => (mode > least ? mode : least);
    this.#hasConsumer ||= this.#readerMode !== EVENT_MODE.OFF || this.#mainMode !== EVENT_MODE.OFF;
    for (const memory of this.#readers) setEventMode(memory, moreOf(this.#readerMode));
    setEventMode(this.#main, moreOf(this.#mainMode));
    for (const memory of this.all) setEventSampling(memory, this.hasConsumer(memory) ? 0 : this.#sampling);
  }
}
