/**
 * Memory for many small entries, in chunks that never move: it grows without copying.
 */

/** log2 of the words of a chunk: 1 MiB. */
const CHUNK_SHIFT = 18;
const CHUNK = 2 ** CHUNK_SHIFT;
const MASK = CHUNK - 1;

export class WordStore {
  readonly #words: Uint32Array[] = [];
  readonly #octets: Uint8Array[] = [];
  /** 0 means no entry. */
  #next = 1;

  /** The position of the next entry, if its chunk has room for it. */
  get end(): number {
    return this.#next;
  }

  /**
   * Allocates an entry, all zero.
   *
   * @param words at most the size of a chunk
   * @returns its position, from 1
   */
  take(words: number): number {
    if ((this.#next & MASK) + words > CHUNK) this.#next = this.firstInNextChunk(this.#next);
    if (this.#next >> CHUNK_SHIFT >= this.#words.length) {
      const chunk = new Uint32Array(CHUNK);
      this.#words.push(chunk);
      this.#octets.push(new Uint8Array(chunk.buffer));
    }
    const at = this.#next;
    this.#next += words;
    return at;
  }

  get(at: number): number {
    return this.#words[at >>> CHUNK_SHIFT]?.[at & MASK] ?? 0;
  }

  set(at: number, value: number): void {
    const chunk = this.#words[at >>> CHUNK_SHIFT];
    if (chunk !== undefined) chunk[at & MASK] = value;
  }

  octet(at: number, offset: number): number {
    return this.#octets[at >>> CHUNK_SHIFT]?.[((at & MASK) << 2) + offset] ?? 0;
  }

  /** A view of the octets of an entry. */
  octets(at: number, offset: number, length: number): Uint8Array {
    const start = ((at & MASK) << 2) + offset;
    return (this.#octets[at >>> CHUNK_SHIFT] ?? new Uint8Array()).subarray(start, start + length);
  }

  setOctet(at: number, offset: number, value: number): void {
    const chunk = this.#octets[at >>> CHUNK_SHIFT];
    if (chunk !== undefined) chunk[((at & MASK) << 2) + offset] = value;
  }

  setOctets(at: number, offset: number, octets: Uint8Array): void {
    this.#octets[at >>> CHUNK_SHIFT]?.set(octets, ((at & MASK) << 2) + offset);
  }

  holds(at: number, offset: number, octets: Uint8Array): boolean {
    const chunk = this.#octets[at >>> CHUNK_SHIFT];
    const start = ((at & MASK) << 2) + offset;
    for (let index = 0; index < octets.length; index += 1)
      if (chunk?.[start + index] !== octets[index]) return false;
    return true;
  }

  /** The words between a position and the end of its chunk. */
  roomAt(at: number): number {
    return CHUNK - (at & MASK);
  }

  firstInNextChunk(at: number): number {
    return ((at >>> CHUNK_SHIFT) + 1) << CHUNK_SHIFT;
  }
}
