/**
 * A name or an address that is looked for among entries of the table, as words: to hash it, to compare it, and to write it.
 */
import type { RecordSpace } from '../../table/record-space.ts';

/** Words of a name of the maximum length, 255 octets. */
const MAX_WORDS = 64;

export class EntryKey {
  readonly #space: RecordSpace;
  readonly #atoms: Int32Array;
  readonly #words = new Int32Array(MAX_WORDS);
  #count = 0;
  /** Octets. */
  length = 0;
  hash = 0;

  constructor(space: RecordSpace) {
    this.#space = space;
    this.#atoms = space.views.atoms;
  }

  /** @param octets at most 255 */
  load(octets: Uint8Array): void {
    const words = this.#words;
    const { length } = octets;
    let count = 0;
    for (let at = 0; at < length; at += 4, count += 1)
      words[count] =
        (octets[at] ?? 0) |
        ((octets[at + 1] ?? 0) << 8) |
        ((octets[at + 2] ?? 0) << 16) |
        ((octets[at + 3] ?? 0) << 24);
    this.#count = count;
    this.length = length;
    this.hash = this.#space.hashOfWords(words, 0, count);
  }

  /** Whether the words of the table from this one on are these. */
  isAt(word: number): boolean {
    for (let at = 0; at < this.#count; at += 1) if (this.#atoms[word + at] !== this.#words[at]) return false;
    return true;
  }

  write(word: number): void {
    for (let at = 0; at < this.#count; at += 1) this.#atoms[word + at] = this.#words[at] ?? 0;
  }
}
