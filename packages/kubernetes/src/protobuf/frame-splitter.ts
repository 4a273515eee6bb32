/**
 * Splits a stream of octets into the Protocol Buffers frames of a watch, in bounded memory. Each frame has a length of four octets
 * before it. HTTP chunks are not frames: a chunk may hold several, and may end inside a frame or its length.
 */
export class FrameTooLongError extends Error {
  override readonly name = 'FrameTooLongError';

  constructor(limit: number) {
    super(`a frame of a watch is longer than allowed: ${limit} octets`);
  }
}

const HEAD = 4;

export class FrameSplitter {
  readonly #limit: number;
  #held: Buffer = Buffer.alloc(0);

  /** `limit` is the maximum frame length, in octets. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Octets held of an unfinished frame. */
  get held(): number {
    return this.#held.length;
  }

  /**
   * Takes the next octets and passes on each completed frame, without its length.
   *
   * @throws {FrameTooLongError}
   */
  push(octets: Uint8Array, take: (frame: Buffer) => void): void {
    const more = Buffer.from(octets.buffer, octets.byteOffset, octets.length);
    const all = this.#held.length === 0 ? more : Buffer.concat([this.#held, more]);
    let position = 0;
    while (all.length - position >= HEAD) {
      const length = all.readUInt32BE(position);
      if (length > this.#limit) throw new FrameTooLongError(this.#limit);
      const end = position + HEAD + length;
      if (end > all.length) break;
      take(all.subarray(position + HEAD, end));
      position = end;
    }
    this.#held = all.subarray(position);
  }
}
