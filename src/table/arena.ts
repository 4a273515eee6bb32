/**
 * Hands out blocks of the table's memory: the writer's side alone.
 *
 * Fresh memory is taken from the front of the reservation. Freed blocks are kept per size (in units of 16 octets up to
 * 1 KiB, above that in steps of an eighth) and given out again for the same size: a cluster frees what it needs next. Freed
 * pages, of an index that has been moved to a larger one, are divided before fresh memory is taken.
 */
import { ARENA_START, PAGE, UNIT } from './layout.ts';

/** The table's memory is used up. */
export class TableFullError extends Error {
  override readonly name = 'TableFullError';
  readonly octets: number;
  constructor(octets: number) {
    super(`the answer table is full: ${octets} octets asked for; give it a larger reservation`);
    this.octets = octets;
  }
}

/** Sizes up to which blocks are kept unit by unit. */
const SMALL = 1024;

/** Rounds a size up to the one that blocks are kept by, so that few sizes share all blocks. */
export function roundToClass(octets: number): number {
  if (octets <= SMALL) return (octets + UNIT - 1) & ~(UNIT - 1);
  const step = 2 ** (Math.floor(Math.log2(octets)) - 3);
  return Math.ceil(octets / step) * step;
}

/** Offsets by size. */
type FreeBlocks = Map<number, number[]>;

export class Arena {
  readonly #end: number;
  #top = ARENA_START;
  #used = 0;
  readonly #free: FreeBlocks = new Map();
  readonly #freePages: FreeBlocks = new Map();
  /** What is left of freed pages that blocks are cut from. */
  #rest = { offset: 0, octets: 0 };

  constructor(octets: number) {
    this.#end = octets;
  }

  /** Octets in blocks that are in use, rounding included. */
  get used(): number {
    return this.#used;
  }

  /** Octets of the reservation that were ever touched. */
  get touched(): number {
    return this.#top;
  }

  /**
   * @returns the offset of a block of at least `octets`, a multiple of 16
   * @throws TableFullError
   */
  take(octets: number): number {
    const size = roundToClass(octets);
    const offset = takeFrom(this.#free, size) ?? this.#divide(size) ?? this.#extend(size, UNIT);
    this.#used += size;
    return offset;
  }

  /** Like `take`, at a multiple of 4096. For whole pages only: such blocks are kept apart by their size. */
  takePages(octets: number): number {
    const size = Math.ceil(octets / PAGE) * PAGE;
    const offset = takeFrom(this.#freePages, size) ?? this.#extend(size, PAGE);
    this.#used += size;
    return offset;
  }

  /** Memory that was never used, and so is zero; it is kept for good. @throws TableFullError */
  takeFresh(octets: number): number {
    const offset = this.#extend(roundToClass(octets), UNIT);
    this.#used += roundToClass(octets);
    return offset;
  }

  give(offset: number, octets: number): void {
    const size = roundToClass(octets);
    keepIn(this.#free, size, offset);
    this.#used -= size;
  }

  givePages(offset: number, octets: number): void {
    const size = Math.ceil(octets / PAGE) * PAGE;
    keepIn(this.#freePages, size, offset);
    this.#used -= size;
  }

  /** A small block of freed pages; nothing if there are none. */
  #divide(size: number): number | undefined {
    if (size > SMALL) return undefined;
    if (this.#rest.octets < size) this.#openPages();
    const { offset, octets } = this.#rest;
    if (octets < size) return undefined;
    this.#rest = { offset: offset + size, octets: octets - size };
    return offset;
  }

  /** Goes on with other freed pages, the smallest ones; what is left of the former is kept as a block. */
  #openPages(): void {
    for (const [size, offsets] of this.#freePages) if (offsets.length === 0) this.#freePages.delete(size);
    if (this.#freePages.size === 0) return;
    const size = Math.min(...this.#freePages.keys());
    const offset = takeFrom(this.#freePages, size);
    if (offset === undefined) return;
    if (this.#rest.octets > 0) keepIn(this.#free, this.#rest.octets, this.#rest.offset);
    this.#rest = { offset, octets: size };
  }

  #extend(size: number, alignment: number): number {
    const offset = Math.ceil(this.#top / alignment) * alignment;
    if (offset + size > this.#end) throw new TableFullError(size);
    this.#top = offset + size;
    return offset;
  }
}

function takeFrom(free: FreeBlocks, size: number): number | undefined {
  return free.get(size)?.pop();
}

function keepIn(free: FreeBlocks, size: number, offset: number): void {
  const offsets = free.get(size);
  if (offsets === undefined) free.set(size, [offset]);
  else offsets.push(offset);
}
