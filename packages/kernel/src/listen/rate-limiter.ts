/**
 * Counts events by key against rates, in memory that all threads of a process share.
 *
 * Each key has an account. Time credits it, up to a second's worth, and an event debits it by the time that one event may take: the
 * event exceeds the rate if the account lacks that (the generic cell rate algorithm). Two threads that debit the same account at the
 * same moment lose at most one event.
 */
const SET_KEYS = 8;
const CREDIT_MILLISECONDS = 1000;
/** Octets of an account: a time, a mark of the key, and how many events have exceeded its rate since the last that slipped. */
const ACCOUNT_OCTETS = Float64Array.BYTES_PER_ELEMENT + Int32Array.BYTES_PER_ELEMENT + 1;
/** Sums of fractions must not cost an event. */
const ROUNDING_MILLISECONDS = 0.001;
const HASHES = 2 ** 32;

/** What becomes of an event. NO_ROOM: it has no account, so it is within any rate. SLIPS: it exceeds the rate, and is let through as one in many. */
export const DEBIT = { WITHIN: 0, NO_ROOM: 1, EXCEEDED: 2, SLIPS: 3 } as const;

/** Memory for a limiter. @param accounts how many keys it has room for */
export function makeRateLimiterMemory(accounts: number): SharedArrayBuffer {
  return new SharedArrayBuffer(accounts * ACCOUNT_OCTETS);
}

export class RateLimiter {
  readonly #times: Float64Array;
  readonly #marks: Int32Array;
  readonly #exceeded: Uint8Array;
  readonly #setKeys: number;
  readonly #sets: number;
  readonly #window: number;

  /**
   * @param window milliseconds that an account may be in debt, and that it keeps its place after its last event. 0: an event that
   *   exceeds the rate is not debited, and a new key replaces the one of its set that was quiet for longest.
   */
  constructor(memory: SharedArrayBuffer, window: number) {
    const accounts = memory.byteLength / ACCOUNT_OCTETS;
    this.#times = new Float64Array(memory, 0, accounts);
    this.#marks = new Int32Array(memory, this.#times.byteLength, accounts);
    this.#exceeded = new Uint8Array(memory, this.#times.byteLength + this.#marks.byteLength, accounts);
    this.#setKeys = Math.min(SET_KEYS, accounts);
    this.#sets = Math.floor(accounts / Math.max(1, this.#setKeys));
    this.#window = window;
  }

  /**
   * Counts an event.
   *
   * @param hash 32 bits, with a seed
   * @param interval milliseconds between two events within the rate
   * @param slip of so many events that exceed the rate, one slips; 0: no event does; at most 255
   * @param now milliseconds of a clock that all threads share
   * @returns one of `DEBIT`
   */
  debit(hash: number, interval: number, slip: number, now: number): number {
    // A mark of 0 is a free place.
    const key = hash | 0 || 1;
    const place = this.#findPlace(key, now);
    if (place < 0) return DEBIT.NO_ROOM;
    if (this.#marks[place] !== key) {
      this.#marks[place] = key;
      this.#exceeded[place] = 0;
      this.#times[place] = now - CREDIT_MILLISECONDS + interval;
      return DEBIT.WITHIN;
    }
    const time = this.#times[place] ?? 0;
    // Less than one event in a second needs the credit of its whole interval.
    const balance = Math.min(now - time, Math.max(CREDIT_MILLISECONDS, interval)) - interval;
    if (balance >= -ROUNDING_MILLISECONDS) {
      this.#times[place] = now - balance;
      return DEBIT.WITHIN;
    }
    if (this.#window > 0) this.#times[place] = now - Math.max(balance, -this.#window);
    return this.#exceed(place, slip);
  }

  #exceed(place: number, slip: number): number {
    if (slip === 0) return DEBIT.EXCEEDED;
    const exceeded = (this.#exceeded[place] ?? 0) + 1;
    this.#exceeded[place] = exceeded % slip;
    return exceeded % slip === 0 ? DEBIT.SLIPS : DEBIT.EXCEEDED;
  }

  /** The place of a key, or of the key that it replaces; -1: all keys of its set still count. */
  #findPlace(key: number, now: number): number {
    if (this.#sets === 0) return -1;
    const first = Math.floor(((key >>> 0) * this.#sets) / HASHES) * this.#setKeys;
    let oldest = first;
    for (let place = first; place < first + this.#setKeys; place++) {
      const mark = this.#marks[place];
      if (mark === key) return place;
      if (this.#marks[oldest] !== 0 && (mark === 0 || (this.#times[place] ?? 0) < (this.#times[oldest] ?? 0)))
        oldest = place;
    }
    const isFree = this.#marks[oldest] === 0 || this.#window === 0;
    return isFree || now - (this.#times[oldest] ?? 0) >= this.#window ? oldest : -1;
  }
}
