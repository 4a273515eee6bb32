/**
 * The answers that readers have made, the oldest first: where the table has each, and the hash of its question. Three numbers take the
 * place of a text and an object for each answer, which the collector would have to move.
 */
const FIRST_ROOM = 1024;

export class PlaceRing {
  #places = new Int32Array(FIRST_ROOM);
  #hashes = new Int32Array(FIRST_ROOM);
  #times = new Int32Array(FIRST_ROOM);
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** When the oldest was stored; infinite if there is none. */
  get oldestTime(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : (this.#times[this.#head] ?? 0);
  }

  /** @param time whole milliseconds, below 2^31 */
  push(place: number, hash: number, time: number): void {
    if (this.#size === this.#places.length) this.#grow();
    const at = (this.#head + this.#size) & (this.#places.length - 1);
    this.#places[at] = place;
    this.#hashes[at] = hash;
    this.#times[at] = time;
    this.#size += 1;
  }

  /** Takes out the oldest. Call it only if there is one. */
  shift(): { readonly place: number; readonly hash: number } {
    const at = this.#head;
    this.#head = (at + 1) & (this.#places.length - 1);
    this.#size -= 1;
    return { place: this.#places[at] ?? 0, hash: this.#hashes[at] ?? 0 };
  }

  clear(): void {
    this.#head = 0;
    this.#size = 0;
  }

  #grow(): void {
    this.#places = this.#doubled(this.#places);
    this.#hashes = this.#doubled(this.#hashes);
    this.#times = this.#doubled(this.#times);
    this.#head = 0;
  }

  #doubled(words: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
    const more = new Int32Array(words.length * 2);
    more.set(words.subarray(this.#head));
    more.set(words.subarray(0, this.#head), words.length - this.#head);
    return more;
  }
}
