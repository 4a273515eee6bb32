/**
 * Where the table has the answers of one kind, the oldest first, and the hashes of their questions. Two numbers take the place of a text
 * and an object for each answer, which the collector would have to move.
 */
const FIRST_ROOM = 64;
/** Places to check for each answer that is listed, while more than half of them are out of date. */
const CHECKED = 2;
/** Shared by all that list nothing yet. */
const NO_ROOM = new Int32Array(0);

/** Whether an answer still is where it was stored. */
export type IsThere = (place: number, hash: number) => boolean;

export class PlaceRing {
  readonly #isThere: IsThere;
  #places = NO_ROOM;
  #hashes = NO_ROOM;
  #head = 0;
  #listed = 0;
  #size = 0;

  constructor(isThere: IsThere) {
    this.#isThere = isThere;
  }

  /** Number of answers. Those listed that have been replaced, moved, dropped or evicted do not count. */
  get size(): number {
    return this.#size;
  }

  /** An answer is there now. */
  push(place: number, hash: number): void {
    this.#size += 1;
    this.#list(place, hash);
  }

  /** An answer is elsewhere now: where it was does not count any more. */
  noteMoved(place: number, hash: number): void {
    this.#list(place, hash);
  }

  /** An answer is no longer there. */
  noteGone(): void {
    this.#size -= 1;
  }

  /**
   * Takes out the oldest answer that is still there.
   *
   * @param drop drops an answer if it is there, and reports by `noteGone` that it is gone. @returns whether it was there
   * @returns whether there was one
   */
  dropOldest(drop: IsThere): boolean {
    while (this.#listed > 0) if (drop(...this.#takeOldest())) return true;
    return false;
  }

  clear(): void {
    this.#head = 0;
    this.#listed = 0;
    this.#size = 0;
  }

  #list(place: number, hash: number): void {
    for (let checked = 0; checked < CHECKED && this.#listed > 2 * this.#size + FIRST_ROOM; checked++) {
      const [oldPlace, oldHash] = this.#takeOldest();
      // One that is there goes behind the others: answers that the table has moved do so too.
      if (this.#isThere(oldPlace, oldHash)) this.#add(oldPlace, oldHash);
    }
    this.#add(place, hash);
  }

  #add(place: number, hash: number): void {
    if (this.#listed === this.#places.length) this.#grow();
    const at = (this.#head + this.#listed) & (this.#places.length - 1);
    this.#places[at] = place;
    this.#hashes[at] = hash;
    this.#listed += 1;
  }

  #takeOldest(): readonly [place: number, hash: number] {
    const at = this.#head;
    this.#head = (at + 1) & (this.#places.length - 1);
    this.#listed -= 1;
    return [this.#places[at] ?? 0, this.#hashes[at] ?? 0];
  }

  #grow(): void {
    this.#places = this.#doubled(this.#places);
    this.#hashes = this.#doubled(this.#hashes);
    this.#head = 0;
  }

  #doubled(words: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
    const more = new Int32Array(Math.max(FIRST_ROOM, words.length * 2));
    more.set(words.subarray(this.#head));
    more.set(words.subarray(0, this.#head), words.length - this.#head);
    return more;
  }
}
