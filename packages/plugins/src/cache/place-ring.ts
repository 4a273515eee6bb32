/**
 * Where the table has the answers of one kind, the oldest first, and the hashes of their questions. Two numbers take the place of a text
 * and an object for each answer, which the collector would have to move.
 */
const FIRST_ROOM = 64;
/** Shared by all that list nothing yet. */
const NO_ROOM = new Int32Array(0);

export class PlaceRing {
  #places = NO_ROOM;
  #hashes = NO_ROOM;
  #head = 0;
  #listed = 0;
  /** Of those listed, the answers that have been replaced, moved or dropped. */
  #gone = 0;

  /** Number of answers. */
  get size(): number {
    return this.#listed - this.#gone;
  }

  push(place: number, hash: number): void {
    if (this.#listed === this.#places.length) this.#grow();
    const at = (this.#head + this.#listed) & (this.#places.length - 1);
    this.#places[at] = place;
    this.#hashes[at] = hash;
    this.#listed += 1;
  }

  /** An answer is no longer where it was. */
  noteGone(): void {
    this.#gone = Math.min(this.#gone + 1, this.#listed);
  }

  /**
   * Takes out the oldest answer.
   *
   * @param drop returns whether the answer still was where it was stored
   */
  dropOldest(drop: (place: number, hash: number) => boolean): void {
    while (this.#listed > 0) {
      const at = this.#head;
      this.#head = (at + 1) & (this.#places.length - 1);
      this.#listed -= 1;
      // The table moves answers in use, and evicts others by itself.
      if (drop(this.#places[at] ?? 0, this.#hashes[at] ?? 0) || this.#gone === 0) return;
      this.#gone -= 1;
    }
  }

  clear(): void {
    this.#head = 0;
    this.#listed = 0;
    this.#gone = 0;
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
