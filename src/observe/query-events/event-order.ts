/**
 * Sorts query events of several rings by time: an event waits until earlier events of other rings must have arrived.
 */

/** Milliseconds that an event waits for earlier ones of other rings. */
export const ORDER_WINDOW = 10;

export class EventOrder<Event> {
  readonly #timeOf: (event: Event) => number;
  #waiting: Event[] = [];

  constructor(timeOf: (event: Event) => number) {
    this.#timeOf = timeOf;
  }

  /** How many events wait. */
  get size(): number {
    return this.#waiting.length;
  }

  add(event: Event): void {
    this.#waiting.push(event);
  }

  /**
   * Removes and returns events older than the window, oldest first.
   *
   * @param now on the clock of the events
   * @param bound the time of the latest event before which all are known. Default: the window
   */
  release(now: number, bound = Number.POSITIVE_INFINITY): readonly Event[] {
    return this.#releaseUntil(Math.min(now - ORDER_WINDOW, bound));
  }

  /** Removes and returns all events. */
  releaseAll(): readonly Event[] {
    return this.#releaseUntil(Number.POSITIVE_INFINITY);
  }

  #releaseUntil(time: number): readonly Event[] {
    if (this.#waiting.length === 0) return [];
    const timeOf = this.#timeOf;
    const sorted = this.#waiting.sort((one, other) => timeOf(one) - timeOf(other));
    const end = sorted.findIndex((event) => timeOf(event) > time);
    const released = end < 0 ? sorted : sorted.slice(0, end);
    this.#waiting = end < 0 ? [] : sorted.slice(end);
    return released;
  }
}
