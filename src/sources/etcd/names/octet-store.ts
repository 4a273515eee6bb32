/**
 * Many short runs of octets in a few large buffers: labels and values of a million keys, of which a JavaScript string each would
 * take several times the memory.
 */

const CHUNK = 4 * 1024 * 1024;
/** The length stands before each run. */
const HEAD = 4;
/** What is freed is used again when it is more than this and more than half of all. */
const MIN_GARBAGE = 16 * 1024 * 1024;

/** Where a run lies. */
export type RunOffset = number;

export class OctetStore {
  readonly #chunks: Buffer[] = [];
  #next = 0;
  #garbage = 0;

  /** @param run shorter than a chunk @returns its offset, from 0 */
  add(run: Uint8Array): RunOffset {
    const size = HEAD + run.length;
    const room = this.#chunks.length * CHUNK - this.#next;
    if (room < size) {
      this.#garbage += room;
      this.#next = this.#chunks.length * CHUNK;
      this.#chunks.push(Buffer.allocUnsafeSlow(CHUNK));
    }
    const offset = this.#next;
    const { chunk, at } = this.#locate(offset);
    chunk.writeUInt32LE(run.length, at);
    chunk.set(run, at + HEAD);
    this.#next += size;
    return offset;
  }

  /** A view of the run, good until the next change. */
  get(offset: RunOffset): Buffer {
    const { chunk, at } = this.#locate(offset);
    return chunk.subarray(at + HEAD, at + HEAD + chunk.readUInt32LE(at));
  }

  text(offset: RunOffset): string {
    const { chunk, at } = this.#locate(offset);
    return chunk.toString('utf8', at + HEAD, at + HEAD + chunk.readUInt32LE(at));
  }

  equals(offset: RunOffset, run: Uint8Array): boolean {
    const { chunk, at } = this.#locate(offset);
    const length = chunk.readUInt32LE(at);
    return length === run.length && chunk.compare(run, 0, length, at + HEAD, at + HEAD + length) === 0;
  }

  /** The run is not needed any more. */
  free(offset: RunOffset): void {
    const { chunk, at } = this.#locate(offset);
    this.#garbage += HEAD + chunk.readUInt32LE(at);
  }

  /** Whether half of the memory is freed, so that all runs should be moved to another store. */
  get isWasteful(): boolean {
    return this.#garbage > MIN_GARBAGE && this.#garbage * 2 > this.#next;
  }

  #locate(offset: number): { readonly chunk: Buffer; readonly at: number } {
    const chunk = this.#chunks[Math.floor(offset / CHUNK)];
    if (chunk === undefined) throw new RangeError(`no octets at ${offset}`);
    return { chunk, at: offset % CHUNK };
  }
}
