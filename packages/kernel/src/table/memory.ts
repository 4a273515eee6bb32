/**
 * The table's memory: its size, and the views through which one thread accesses it.
 */
import type { Arena } from './arena.ts';
import type { BlockBuffer } from './block.ts';
import type { Reclaimer } from './reclaim.ts';

export interface TableViews {
  readonly octets: Uint8Array;
  readonly words: Uint32Array;
  /** The same words signed: the only view for `Atomics`. */
  readonly atoms: Int32Array;
}

export function viewTable(memory: SharedArrayBuffer): TableViews {
  return { octets: new Uint8Array(memory), words: new Uint32Array(memory), atoms: new Int32Array(memory) };
}

/** Shared by all parts of the writer: the memory, its allocator, and the reclaimer. */
export class WriterMemory {
  readonly views: TableViews;
  readonly arena: Arena;
  readonly reclaimer: Reclaimer;

  constructor(views: TableViews, arena: Arena, reclaimer: Reclaimer) {
    this.views = views;
    this.arena = arena;
    this.reclaimer = reclaimer;
  }

  /**
   * Copies the block in a buffer into the table.
   *
   * @returns the octet where it lies
   * @throws TableFullError
   */
  copy(buffer: BlockBuffer): number {
    const block = this.arena.take(buffer.length);
    const { words } = this.views;
    // Quicker for blocks of the usual size than one copy, which needs a new view.
    for (let word = 0, end = buffer.length >> 2, first = block >> 2; word < end; word++)
      words[first + word] = buffer.words[word] ?? 0;
    return block;
  }

  /** Whether a block of the table begins with the content of the buffer. */
  holds(block: number, buffer: BlockBuffer): boolean {
    const { words } = this.views;
    for (let word = 0, end = buffer.length >> 2; word < end; word++) {
      if (words[(block >> 2) + word] !== buffer.words[word]) return false;
    }
    return true;
  }
}

/** The minimum reservation to start with. */
const MIN_RESERVATION = 64 * 2 ** 20;

/**
 * Reserves address space for a table. Untouched pages cost no memory, so the reservation is large; machines that do not
 * overcommit get a smaller one.
 *
 * @param octets the desired size, at most 2 GiB (beyond it, offsets would leave the fast integers of the engine)
 * @throws RangeError when not even 64 MiB are available
 */
export function reserveTable(octets: number): SharedArrayBuffer {
  for (let size = octets; ; size = Math.floor(size / 2)) {
    try {
      return new SharedArrayBuffer(size);
    } catch (error) {
      if (size / 2 < MIN_RESERVATION) throw error;
    }
  }
}
