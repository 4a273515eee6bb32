/**
 * The most frequent keys of a stream in bounded memory: Space-Saving (Metwally, Agrawal and El Abbadi 2005), with weights.
 *
 * Of each key that it holds it knows bounds: it came at most `count` times and at least `count - error` times. A key that it does
 * not hold came at most `unlisted` times. With room for all keys, counts are exact.
 */

/** What is known of a key. */
export interface CountedKey {
  readonly what: string;
  /** At most so many. */
  readonly count: number;
  /** By how much the count may be too large; undefined: it is exact. */
  readonly error?: number;
}

/** Keys, the most frequent first, and how often any other came at most. */
export interface Summary {
  readonly rows: readonly CountedKey[];
  readonly unlisted: number;
}

export class SpaceSaving {
  readonly #room: number;
  /** The number of each key, and the keys by number. */
  readonly #numbers = new Map<string, number>();
  readonly #keys: string[] = [];
  /** By number. */
  readonly #counts: Float64Array;
  readonly #errors: Float64Array;
  /** Numbers as a heap, with the smallest count first; and where each number is in it. */
  readonly #heap: Int32Array;
  readonly #places: Int32Array;

  /** @param room for keys, at least 1 */
  constructor(room: number) {
    this.#room = room;
    this.#counts = new Float64Array(room);
    this.#errors = new Float64Array(room);
    this.#heap = new Int32Array(room);
    this.#places = new Int32Array(room);
  }

  add(key: string, weight = 1): void {
    const known = this.#numbers.get(key);
    if (known !== undefined) {
      this.#counts[known] = this.#countAt(known) + weight;
      this.#sink(known);
    } else if (this.#keys.length < this.#room) {
      const added = this.#keys.length;
      this.#put(added, key, weight, 0);
      this.#rise(added);
    } else {
      const replaced = this.#heap[0] ?? 0;
      const least = this.#countAt(replaced);
      this.#numbers.delete(this.#keys[replaced] ?? '');
      this.#put(replaced, key, least + weight, least);
      this.#sink(replaced);
    }
  }

  /** @param rows at most */
  read(rows = this.#room): Summary {
    const all = this.#keys.map((what, number) =>
      toCountedKey(what, this.#countAt(number), this.#errors[number] ?? 0),
    );
    const isFull = this.#keys.length === this.#room;
    return cut({ rows: all, unlisted: isFull ? this.#countAt(this.#heap[0] ?? 0) : 0 }, rows);
  }

  clear(): void {
    this.#keys.length = 0;
    this.#numbers.clear();
  }

  #countAt(number: number): number {
    return this.#counts[number] ?? 0;
  }

  #put(number: number, key: string, count: number, error: number): void {
    this.#keys[number] = key;
    this.#numbers.set(key, number);
    this.#counts[number] = count;
    this.#errors[number] = error;
  }

  /** Moves a number that has grown away from the smallest. */
  #sink(number: number): void {
    const heap = this.#heap;
    const count = this.#countAt(number);
    let place = this.#places[number] ?? 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.#keys.length) break;
      let least = heap[child] ?? 0;
      const right = heap[child + 1] ?? 0;
      if (child + 1 < this.#keys.length && this.#countAt(right) < this.#countAt(least)) {
        child += 1;
        least = right;
      }
      if (count <= this.#countAt(least)) break;
      this.#place(least, place);
      place = child;
    }
    this.#place(number, place);
  }

  /** Moves the number at the end, which is new, towards the smallest. */
  #rise(number: number): void {
    const count = this.#countAt(number);
    let place = this.#keys.length - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#heap[parent] ?? 0;
      if (this.#countAt(above) <= count) break;
      this.#place(above, place);
      place = parent;
    }
    this.#place(number, place);
  }

  #place(number: number, place: number): void {
    this.#heap[place] = number;
    this.#places[number] = place;
  }
}

/**
 * One summary of several streams. A key that a summary lacks may have come as often there as its `unlisted`, so the bounds hold for the
 * streams together.
 *
 * @param rows at most
 */
export function mergeSummaries(summaries: readonly Summary[], rows: number): Summary {
  const unlisted = summaries.reduce((sum, each) => sum + each.unlisted, 0);
  const merged = new Map<string, { count: number; error: number }>();
  for (const { rows: own, unlisted: others } of summaries)
    for (const { what, count, error = 0 } of own) {
      const known = merged.get(what) ?? { count: unlisted, error: unlisted };
      merged.set(what, { count: known.count + count - others, error: known.error + error - others });
    }
  const all = Array.from(merged, ([what, { count, error }]) => toCountedKey(what, count, error));
  return cut({ rows: all, unlisted }, rows);
}

/** How often a key came at least. */
export function atLeast({ count, error = 0 }: CountedKey): number {
  return count - error;
}

/** A number, or its bounds. */
export function describeCount(row: CountedKey): string {
  const least = atLeast(row);
  return least === row.count ? `${least}` : `${least}-${row.count}`;
}

function toCountedKey(what: string, count: number, error: number): CountedKey {
  return error === 0 ? { what, count } : { what, count, error };
}

/** Keeps those that certainly came most often. */
function cut({ rows, unlisted }: Summary, most: number): Summary {
  const sorted = [...rows].sort(
    (one, other) =>
      atLeast(other) - atLeast(one) || other.count - one.count || (one.what < other.what ? -1 : 1),
  );
  const left = sorted.slice(most);
  return {
    rows: sorted.slice(0, most),
    unlisted: left.reduce((highest, { count }) => Math.max(highest, count), unlisted),
  };
}
