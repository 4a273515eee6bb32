/**
 * Messages of gRPC inside the data of an HTTP/2 stream. Each has five octets before it: whether it is compressed, and its length.
 */

/** A message that this side cannot take. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
  /** Whether it is too large, not malformed. */
  readonly isTooLarge: boolean;

  constructor(message: string, isTooLarge: boolean) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

export const HEAD_OCTETS = 5;

export function encodeGrpcFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_OCTETS + message.length);
  writeFrameHead(frame, message.length);
  frame.set(message, HEAD_OCTETS);
  return frame;
}

/** Writes the first five octets of a frame. @param length octets of its message, which is not compressed */
export function writeFrameHead(frame: Buffer, length: number): void {
  frame[0] = 0;
  frame.writeUInt32BE(length, 1);
}

/** Collects the pieces of frames. The pieces of a large message are joined once, when it is complete. */
export class GrpcFrameReader {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #held = 0;
  /** Octets of the current frame with its head; until the head is complete, those of the head. */
  #wanted = HEAD_OCTETS;
  #hasHead = false;

  /** @param limit maximum octets of a message */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a frame has begun and is not complete. */
  get isInside(): boolean {
    return this.#held > 0;
  }

  /** Takes the next octets, and passes on each completed message. @throws FrameError */
  push(octets: Buffer, take: (message: Buffer) => void): void {
    let rest = octets;
    for (;;) {
      const missing = this.#wanted - this.#held;
      if (rest.length < missing) break;
      this.#hold(rest.subarray(0, missing));
      rest = rest.subarray(missing);
      const whole = this.#join();
      if (!this.#hasHead) this.#begin(whole);
      if (this.#wanted > whole.length) continue;
      this.#pieces = [];
      this.#held = 0;
      this.#wanted = HEAD_OCTETS;
      this.#hasHead = false;
      take(whole.subarray(HEAD_OCTETS));
    }
    if (rest.length > 0) this.#hold(rest);
  }

  #hold(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#held += piece.length;
  }

  #join(): Buffer {
    const whole =
      this.#pieces.length === 1 ? (this.#pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }

  #begin(head: Buffer): void {
    const length = head.readUInt32BE(1);
    if (head[0] !== 0) throw new FrameError('a message of a compression that was not offered', false);
    if (length > this.#limit) throw new FrameError(`a message larger than max: ${length} octets`, true);
    this.#hasHead = true;
    this.#wanted = HEAD_OCTETS + length;
  }
}
