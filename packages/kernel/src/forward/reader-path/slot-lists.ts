/**
 * Several lists of slots; each slot is in at most one. Slots join at the end and leave from anywhere, both in constant time.
 */
const NONE = -1;

export class SlotLists {
  readonly #next: Int16Array;
  readonly #previous: Int16Array;
  readonly #first: Int16Array;
  readonly #last: Int16Array;

  /** @param slots at most 32,767 */
  constructor(slots: number, lists: number) {
    this.#next = new Int16Array(slots).fill(NONE);
    this.#previous = new Int16Array(slots).fill(NONE);
    this.#first = new Int16Array(lists).fill(NONE);
    this.#last = new Int16Array(lists).fill(NONE);
  }

  /** The slot that has been in a list for longest, or -1. */
  first(list: number): number {
    return this.#first[list] ?? NONE;
  }

  /** The slot after this one in the same list, or -1. */
  after(slot: number): number {
    return this.#next[slot] ?? NONE;
  }

  append(list: number, slot: number): void {
    const last = this.#last[list] ?? NONE;
    this.#previous[slot] = last;
    this.#next[slot] = NONE;
    if (last < 0) this.#first[list] = slot;
    else this.#next[last] = slot;
    this.#last[list] = slot;
  }

  /** @param list the slot's list */
  remove(list: number, slot: number): void {
    const next = this.#next[slot] ?? NONE;
    const previous = this.#previous[slot] ?? NONE;
    if (previous < 0) this.#first[list] = next;
    else this.#next[previous] = next;
    if (next < 0) this.#last[list] = previous;
    else this.#previous[next] = previous;
  }
}
