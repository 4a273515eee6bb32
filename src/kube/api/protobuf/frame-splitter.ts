/**
 * Frames of a watch in Protocol Buffers out of a stream of octets, in bounded memory: each has its length before it, in four
 * octets. Chunks of HTTP are no frames: one may hold several, and may end inside of one or of its length.
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

  /** `limit` is that of one frame, in octets. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many octets of an unfinished frame are held. */
  get held(): number {
    return this.#held.length;
  }

  /**
   * Takes the next octets and hands on each frame that they complete, without its length.
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
