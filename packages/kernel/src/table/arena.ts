/**
 * Allocates blocks of the table's memory. Only the writer uses it.
 *
 * Fresh memory is taken from the front of the reservation. Freed blocks are kept by size (in units of 16 octets up to 1
 * KiB, above that in steps of an eighth) and reused for the same size, which suits how a cluster changes. Freed pages
 * of an index that moved to a larger one are divided before fresh memory is taken.
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

/** Rounds a size up to its size class, so that few classes cover all blocks. */
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
  /** Octets of fresh memory that only `takeAside` takes. */
  #aside = 0;
  readonly #free: FreeBlocks = new Map();
  readonly #freePages: FreeBlocks = new Map();
  /** The unused rest of the freed pages that blocks are cut from. */
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

  /** Sets fresh memory aside for `takeAside`, as far as there is some, in place of what was set aside before. */
  setAside(octets: number): void {
    this.#aside = Math.max(0, Math.min(octets, this.#end - this.#top));
  }

  /** Like `takePages`, from the memory set aside first. @throws TableFullError */
  takeAside(octets: number): number {
    const before = this.#aside;
    this.#aside = Math.max(0, before - Math.ceil(octets / PAGE) * PAGE);
    try {
      return this.takePages(octets);
    } catch (error) {
      this.#aside = before;
      throw error;
    }
  }

  /** Memory that was never used and is therefore zero. It is never freed. @throws TableFullError */
  takeFresh(octets: number): number {
    const offset = this.#extend(roundToClass(octets), UNIT);
    this.#used += roundToClass(octets);
    return offset;
  }

  /** Several blocks at once, each of whole size classes, all zero. They are given back one by one. @throws TableFullError */
  takeRun(octets: number): number {
    const offset = this.#extend(octets, UNIT);
    this.#used += octets;
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

  /** A small block cut from freed pages; undefined if no pages are left. */
  #divide(size: number): number | undefined {
    if (size > SMALL) return undefined;
    if (this.#rest.octets < size) this.#openPages();
    const { offset, octets } = this.#rest;
    if (octets < size) return undefined;
    this.#rest = { offset: offset + size, octets: octets - size };
    return offset;
  }

  /** Opens the smallest freed pages next; keeps the rest of the former ones as a block. */
  #openPages(): void {
    if (this.#freePages.size === 0) return;
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
    if (offset + size > this.#end - this.#aside) throw new TableFullError(size);
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
