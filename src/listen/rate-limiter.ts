/**
 * Counts events by key against a rate, in memory that all readers of a process share: 16,384 keys in sets of four, of which the
 * one that was quiet for longest gives way.
 *
 * Each key has a point in time, which moves on by the time that one event may take and never lags behind the clock; an event
 * that finds it more than a second ahead exceeds the rate (the generic cell rate algorithm). So a second's worth may come at
 * once. Two readers that count the same key at the same moment may lose an event of the two, never more.
 */
const SETS = 4096;
const SET_KEYS = 4;
const KEYS = SETS * SET_KEYS;
const BURST_MILLISECONDS = 1000;

/** Memory for a limiter: a time and a mark of the key for each of its places. */
export function makeRateLimiterMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(KEYS * (Float64Array.BYTES_PER_ELEMENT + Int32Array.BYTES_PER_ELEMENT));
}

export class RateLimiter {
  readonly #times: Float64Array;
  readonly #marks: Int32Array;
  readonly #interval: number;

  /** @param perSecond events that a key may have in a second, from 1 */
  constructor(memory: SharedArrayBuffer, perSecond: number) {
    this.#times = new Float64Array(memory, 0, KEYS);
    this.#marks = new Int32Array(memory, KEYS * Float64Array.BYTES_PER_ELEMENT, KEYS);
    this.#interval = 1000 / perSecond;
  }

  /**
   * Counts an event.
   *
   * @param key 32 bits, hashed with a seed
   * @param now milliseconds of a clock that all readers share
   * @returns whether it exceeds the rate; then it is not counted
   */
  exceeds(key: number, now: number): boolean {
    const place = this.#placeOf(key, now);
    const time = Math.max(now, this.#times[place] ?? 0);
    if (time - now > BURST_MILLISECONDS - this.#interval) return true;
    this.#times[place] = time + this.#interval;
    return false;
  }

  /** The place of a key, or of the one that gives way to it. */
  #placeOf(key: number, now: number): number {
    const first = (key & (SETS - 1)) * SET_KEYS;
    let oldest = first;
    for (let place = first; place < first + SET_KEYS; place++) {
      if (this.#marks[place] === key) return place;
      if ((this.#times[place] ?? 0) < (this.#times[oldest] ?? 0)) oldest = place;
    }
    this.#marks[oldest] = key;
    this.#times[oldest] = now;
    return oldest;
  }
}
