/**
 * Query events of several rings in the order of time: an event waits until those of other rings that came before it
 * must be there.
 */

/** Milliseconds that an event waits for earlier ones of other rings. */
export const ORDER_WINDOW = 10;

export class EventOrder<Event> {
  readonly #timeOf: (event: Event) => number;
  #waiting: Event[] = [];

  constructor(timeOf: (event: Event) => number) {
    this.#timeOf = timeOf;
  }

  add(event: Event): void {
    this.#waiting.push(event);
  }

  /** Takes out what is older than the window, oldest first. @param now on the clock of the events */
  release(now: number): readonly Event[] {
    return this.#releaseUntil(now - ORDER_WINDOW);
  }

  /** Takes out everything. */
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
