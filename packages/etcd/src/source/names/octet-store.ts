/**
 * Many short runs of octets in a few large buffers, for labels and values of a million keys: as JavaScript strings they would
 * take several times the memory.
 */

const CHUNK = 4 * 1024 * 1024;
/** The length is before each run: in one octet, or in four octets after one of this value. */
const LONG = 0xff;
const SHORT_HEAD = 1;
const LONG_HEAD = 5;
/** Free memory is reclaimed if it is more than this and more than half of all. */
const MIN_GARBAGE = 16 * 1024 * 1024;

/** The position of a run. */
export type RunOffset = number;

export class OctetStore {
  readonly #chunks: Buffer[] = [];
  #next = 0;
  #garbage = 0;

  /** @param run shorter than a chunk @returns its offset, from 0 */
  add(run: Uint8Array): RunOffset {
    const head = computeHeadLength(run.length);
    const size = head + run.length;
    const room = this.#chunks.length * CHUNK - this.#next;
    if (room < size) {
      this.#garbage += room;
      this.#next = this.#chunks.length * CHUNK;
      this.#chunks.push(Buffer.allocUnsafeSlow(CHUNK));
    }
    const offset = this.#next;
    const { chunk, at } = this.#locate(offset);
    chunk[at] = Math.min(run.length, LONG);
    if (head === LONG_HEAD) chunk.writeUInt32LE(run.length, at + 1);
    chunk.set(run, at + head);
    this.#next += size;
    return offset;
  }

  /** A view of the run, valid until the next change. */
  get(offset: RunOffset): Buffer {
    const { chunk, start, end } = this.#runAt(offset);
    return chunk.subarray(start, end);
  }

  text(offset: RunOffset): string {
    const { chunk, start, end } = this.#runAt(offset);
    return chunk.toString('utf8', start, end);
  }

  equals(offset: RunOffset, run: Uint8Array): boolean {
    const { chunk, start, end } = this.#runAt(offset);
    return end - start === run.length && chunk.compare(run, 0, run.length, start, end) === 0;
  }

  /** Frees a run. */
  free(offset: RunOffset): void {
    const { start, end } = this.#runAt(offset);
    this.#garbage += computeHeadLength(end - start) + end - start;
  }

  /** Whether half of the memory is free, so that all runs should be moved to another store. */
  get isWasteful(): boolean {
    return this.#garbage > MIN_GARBAGE && this.#garbage * 2 > this.#next;
  }

  /** The position of a run's octets. */
  #runAt(offset: number): { readonly chunk: Buffer; readonly start: number; readonly end: number } {
    const { chunk, at } = this.#locate(offset);
    const short = chunk[at] ?? 0;
    const start = at + (short === LONG ? LONG_HEAD : SHORT_HEAD);
    return { chunk, start, end: start + (short === LONG ? chunk.readUInt32LE(at + 1) : short) };
  }

  #locate(offset: number): { readonly chunk: Buffer; readonly at: number } {
    const chunk = this.#chunks[Math.floor(offset / CHUNK)];
    if (chunk === undefined) throw new RangeError(`no octets at ${offset}`);
    return { chunk, at: offset % CHUNK };
  }
}

function computeHeadLength(length: number): number {
  return length < LONG ? SHORT_HEAD : LONG_HEAD;
}
