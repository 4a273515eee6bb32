/**
 * Memory of the table for many small entries that lie one behind another, in chunks that never move.
 */
import { roundToClass } from '../../table/arena.ts';
import type { RecordSpace } from '../../table/record-space.ts';

/** Octets of the first chunk; each is twice as large as the one before, up to the largest. */
const FIRST_CHUNK = 1024;
const LARGEST_CHUNK = 256 * 1024;

interface Chunk {
  /** Its first octet. */
  readonly block: number;
  readonly octets: number;
  /** The first unused word. */
  end: number;
}

export class EntryChunks {
  readonly #space: RecordSpace;
  readonly #chunks: Chunk[] = [];
  #last: Chunk = { block: 0, octets: 0, end: 0 };

  constructor(space: RecordSpace) {
    this.#space = space;
  }

  /**
   * Allocates an entry, which holds whatever was there before.
   *
   * @returns its first word
   * @throws TableFullError
   */
  take(words: number): number {
    const { block, octets, end } = this.#last;
    if (end + words > (block + octets) >> 2) this.#open();
    const at = this.#last.end;
    this.#last.end += words;
    return at;
  }

  /** The chunks: their first word, and the word behind the last entry. */
  *parts(): Generator<{ readonly start: number; readonly end: number }, void> {
    for (const { block, end } of this.#chunks) yield { start: block >> 2, end };
  }

  /** Gives the memory back, once readers have left it. */
  retire(): void {
    for (const { block, octets } of this.#chunks) this.#space.retire(block, octets);
    this.#chunks.length = 0;
    this.#last = { block: 0, octets: 0, end: 0 };
  }

  #open(): void {
    const octets = roundToClass(Math.min(LARGEST_CHUNK, Math.max(FIRST_CHUNK, this.#last.octets * 2)));
    const block = this.#space.take(octets);
    this.#last = { block, octets, end: block >> 2 };
    this.#chunks.push(this.#last);
  }
}
