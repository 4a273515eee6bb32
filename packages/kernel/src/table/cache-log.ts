/**
 * The circular log of cached answers: a fixed region of the table, written at its head, freed at its tail.
 *
 * Entries behind the tail are overwritten only after every reader has left them. Only `append` decides whether there is
 * space, and returns 0 if not; space is never reserved in advance.
 */
import { CACHED, UNIT } from './layout.ts';
import type { WriterMemory } from './memory.ts';

export class CacheLog {
  readonly #memory: WriterMemory;
  /** The log: [start, start + size). Head, tail and left count octets ever written and never wrap; `#at` maps them. */
  readonly #start: number;
  readonly #size: number;
  #head = 0;
  #tail = 0;
  /** Up to here, readers have left the entries that the tail passed. */
  #left = 0;

  /** @param octets 0 for a log that accepts no entries */
  constructor(memory: WriterMemory, octets: number) {
    this.#memory = memory;
    this.#size = octets & ~(UNIT - 1);
    this.#start = this.#size === 0 ? 0 : memory.arena.takePages(this.#size);
  }

  /**
   * Appends an entry.
   *
   * @param octets the entry, with its own length in its word `CACHED.SIZE`
   * @returns its octet; 0 when it is too large, or readers have not left enough space
   */
  append(octets: Uint8Array): number {
    const length = alignUnit(octets.length);
    if (!this.fits(octets.length)) return 0;
    const rest = this.#size - (this.#head % this.#size);
    if (length > rest) {
      // The end of the region is left unused.
      this.#memory.views.words[(this.#at(this.#head) + CACHED.SIZE) >> 2] = 0;
      this.#head += rest;
    }
    const block = this.#at(this.#head);
    this.#memory.views.octets.set(octets, block);
    this.#head += length;
    return block;
  }

  /** Whether `append` would accept an entry of this many octets now. */
  fits(octets: number): boolean {
    const length = alignUnit(octets);
    // Larger entries would push out too many others.
    if (length * 4 > this.#size) return false;
    const rest = this.#size - (this.#head % this.#size);
    return (length > rest ? rest + length : length) <= this.#size - (this.#head - this.#left);
  }

  /** Whether free space is so low that entries at the tail should go before an entry of this many octets is added. */
  isFullFor(octets: number): boolean {
    // Keep some space free, so that readers have time to leave it.
    return this.#size - (this.#head - this.#tail) < Math.max(2 * alignUnit(octets), this.#size >> 4);
  }

  /** The octet of the entry at the tail; 0 if the log is empty. */
  oldest(): number {
    if (this.#tail < this.#head && this.#sizeAt(this.#tail) === 0) this.#tail = this.#behind(this.#tail);
    return this.#tail < this.#head ? this.#at(this.#tail) : 0;
  }

  /** Gives up the entry at the tail. Look-ups must not find it any more. */
  passOldest(): void {
    if (this.oldest() !== 0) this.#tail = this.#behind(this.#tail);
  }

  /** Allows the space behind the tail to be overwritten once readers have left it. */
  release(): void {
    const tail = this.#tail;
    const { reclaimer } = this.#memory;
    if (tail > this.#left) {
      reclaimer.retire(() => {
        this.#left = Math.max(this.#left, tail);
      });
    }
    reclaimer.collect();
  }

  /**
   * Visits the entries in the order in which they were appended.
   *
   * @param from a position that `visit` returned, 0 at first
   * @param max entries to visit
   * @returns where to continue, 0 at the end
   */
  visit(from: number, max: number, visitor: (block: number) => void): number {
    let position = Math.max(from, this.#tail);
    for (let visited = 0; visited < max && position < this.#head; visited++) {
      if (this.#sizeAt(position) > 0) visitor(this.#at(position));
      position = this.#behind(position);
    }
    return position < this.#head ? position : 0;
  }

  /** The position after an entry, or after the unused end of the region. */
  #behind(position: number): number {
    const size = this.#sizeAt(position);
    return position + (size === 0 ? this.#size - (position % this.#size) : alignUnit(size));
  }

  #at(position: number): number {
    return this.#start + (position % this.#size);
  }

  #sizeAt(position: number): number {
    return this.#memory.views.words[(this.#at(position) + CACHED.SIZE) >> 2] ?? 0;
  }
}

function alignUnit(octets: number): number {
  return (octets + UNIT - 1) & ~(UNIT - 1);
}
