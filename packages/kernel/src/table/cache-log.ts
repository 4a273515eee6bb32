/**
 * The log of cached answers: written at its head, freed at its tail.
 *
 * It lies in segments of the table's memory, which is set aside for it. It touches a new one only when its head needs one and no other is
 * free: its tail has passed it, and every reader has left it. So it takes up what its entries need, and its limit may change. Only `append`
 * decides whether there is space, and returns 0 if not.
 */
import { TableFullError } from './arena.ts';
import { CACHED, PAGE, UNIT } from './layout.ts';
import type { WriterMemory } from './memory.ts';

/** Octets of a segment; an entry fits in one. Logs with a low limit have smaller ones. */
const SEGMENT = 128 * 1024;
/** Entries of at most this part of the limit are accepted: larger ones would push out too many others. */
const MAX_PART = 4;
/** Entries that are gone may fill this many segments before it is worth the time to free them. */
const SPARE_SEGMENTS = 4;
/** Beyond the limit: that of the head, and that of the tail. */
const MORE_SEGMENTS = 2;

export class CacheLog {
  readonly #memory: WriterMemory;
  readonly #segmentSize: number;
  #limit = 0;
  /** Where the segments lie, from the one that readers have not left. */
  readonly #segments: number[] = [];
  /** Where those lie that are free. */
  readonly #freeSegments: number[] = [];
  /** The position of the first one, in segments. */
  #firstSegment = 0;
  /** Head, tail and left count octets ever written and never wrap; `#at` maps them. */
  #head = 0;
  #tail = 0;
  /** Up to here, readers have left the entries that the tail passed. */
  #left = 0;
  /** Whether the table had no memory for the last segment. */
  #isStarved = false;

  /** @param octets the limit; 0 for a log that accepts no entries */
  constructor(memory: WriterMemory, octets: number) {
    this.#memory = memory;
    const largest = Math.floor(octets / MAX_PART) & ~(UNIT - 1);
    this.#segmentSize = largest === 0 ? SEGMENT : Math.min(largest, SEGMENT);
    this.resize(octets);
  }

  /** Maximum octets of all entries. */
  get limit(): number {
    return this.#limit;
  }

  /** Changes the limit. Entries beyond a lower one stay until they are passed. */
  resize(octets: number): void {
    this.#limit = octets;
    const taken = this.#segments.length + this.#freeSegments.length;
    const wanted = octets === 0 ? 0 : Math.ceil(octets / this.#segmentSize) + MORE_SEGMENTS;
    this.#memory.arena.setAside((wanted - taken) * alignPage(this.#segmentSize));
    this.#isStarved = false;
  }

  /**
   * Appends an entry.
   *
   * @param octets the entry, with its own length in its word `CACHED.SIZE`
   * @returns its octet; 0 when it is too large, readers have not left enough space, or the table has no memory
   */
  append(octets: Uint8Array): number {
    const length = alignUnit(octets.length);
    if (!this.#fits(length)) return 0;
    const rest = this.#restOfSegment();
    if (length > rest) {
      if (!this.#takeSegment()) return 0;
      // The end of the segment is left unused.
      if (rest > 0) this.#memory.views.words[(this.#at(this.#head) + CACHED.SIZE) >> 2] = 0;
      this.#head += rest;
    }
    const block = this.#at(this.#head);
    this.#memory.views.octets.set(octets, block);
    this.#head += length;
    return block;
  }

  /** Whether free space is so low that entries at the tail should go before an entry of this many octets is added. */
  isFullFor(octets: number): boolean {
    // Keep some space free, so that readers have time to leave it.
    const free = this.#limit - (this.#head - this.#tail);
    return this.#isStarved || free < Math.max(2 * alignUnit(octets), this.#limit >> 4);
  }

  /** Whether entries that are gone take up more than those that are there. @param octets of those that are there */
  isSparse(octets: number): boolean {
    return this.#head - this.#tail > 2 * octets + SPARE_SEGMENTS * this.#segmentSize;
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

  /** Frees the space behind the tail once readers have left it. */
  release(): void {
    const tail = this.#tail;
    const { reclaimer } = this.#memory;
    if (tail > this.#left) reclaimer.retire(() => this.#leave(tail));
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

  #fits(length: number): boolean {
    if (length * MAX_PART > this.#limit || length > this.#segmentSize) return false;
    const rest = this.#restOfSegment();
    return (length > rest ? rest + length : length) <= this.#limit - (this.#head - this.#left);
  }

  /** Octets from the head to the end of its segment; 0: it is at the start of one that is not taken yet. */
  #restOfSegment(): number {
    const used = this.#head % this.#segmentSize;
    return used === 0 ? 0 : this.#segmentSize - used;
  }

  #takeSegment(): boolean {
    try {
      this.#segments.push(this.#freeSegments.pop() ?? this.#memory.arena.takeAside(this.#segmentSize));
      this.#isStarved = false;
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.#isStarved = true;
    }
    return !this.#isStarved;
  }

  #leave(position: number): void {
    this.#left = Math.max(this.#left, position);
    for (let end = this.#firstSegment + 1; end * this.#segmentSize <= this.#left; end++) {
      const segment = this.#segments.shift();
      this.#firstSegment = end;
      if (segment === undefined) continue;
      this.#freeSegments.push(segment);
      this.#isStarved = false;
    }
  }

  /** The position after an entry, or after the unused end of a segment. */
  #behind(position: number): number {
    const size = this.#sizeAt(position);
    return position + (size === 0 ? this.#segmentSize - (position % this.#segmentSize) : alignUnit(size));
  }

  #at(position: number): number {
    const segment = this.#segments[Math.floor(position / this.#segmentSize) - this.#firstSegment] ?? 0;
    return segment + (position % this.#segmentSize);
  }

  #sizeAt(position: number): number {
    return this.#memory.views.words[(this.#at(position) + CACHED.SIZE) >> 2] ?? 0;
  }
}

function alignUnit(octets: number): number {
  return (octets + UNIT - 1) & ~(UNIT - 1);
}

function alignPage(octets: number): number {
  return Math.ceil(octets / PAGE) * PAGE;
}
