/**
 * Counts events by key against a rate, in memory that all readers of a process share: 16,384 keys in sets of four. A
 * new key replaces the one of its set that was quiet for longest.
 *
 * Each key has a point in time. Every event moves it on by the time that one event may take, and it never lags behind
 * the clock. An event that finds it more than a second ahead exceeds the rate (the generic cell rate algorithm), so
 * bursts of up to a second's worth pass. Two readers that count the same key at the same moment lose at most one event.
 */
const SETS = 4096;
const SET_KEYS = 4;
const KEYS = SETS * SET_KEYS;
const BURST_MILLISECONDS = 1000;

/** Memory for a limiter: per place a time and a mark of the key. */
export function makeRateLimiterMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(KEYS * (Float64Array.BYTES_PER_ELEMENT + Int32Array.BYTES_PER_ELEMENT));
}

export class RateLimiter {
  readonly #times: Float64Array;
  readonly #marks: Int32Array;
  readonly #interval: number;

  /** @param perSecond events that a key may have a second, from 1 */
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

  /** The place of a key, or of the key that it replaces. */
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
