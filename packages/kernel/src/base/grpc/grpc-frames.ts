/**
 * Messages of gRPC inside the data of an HTTP/2 stream. Each has five octets before it: whether it is compressed, and its length.
 */
import { OctetCollector } from '../octet-collector.ts';

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

/** Collects the pieces of frames. */
export class GrpcFrameReader {
  readonly #limit: number;
  #held = new OctetCollector();
  /** Octets of the current frame with its head; until the head is complete, those of the head. */
  #wanted = HEAD_OCTETS;
  #hasHead = false;

  /** @param limit maximum octets of a message */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a frame has begun and is not complete. */
  get isInside(): boolean {
    return this.#held.length > 0;
  }

  /** Takes the next octets, and passes on each completed message, which is in memory of its own. @throws FrameError */
  push(octets: Buffer, take: (message: Buffer) => void): void {
    let rest = octets;
    for (;;) {
      const missing = this.#wanted - this.#held.length;
      this.#held.add(rest.subarray(0, missing));
      if (rest.length < missing) return;
      rest = rest.subarray(missing);
      const { octets: whole } = this.#held;
      if (!this.#hasHead) this.#begin(whole);
      if (this.#wanted > whole.length) continue;
      this.#held = new OctetCollector();
      this.#wanted = HEAD_OCTETS;
      this.#hasHead = false;
      take(whole.subarray(HEAD_OCTETS));
    }
  }

  #begin(head: Buffer): void {
    const length = head.readUInt32BE(1);
    if (head[0] !== 0) throw new FrameError('a message of a compression that was not offered', false);
    if (length > this.#limit) throw new FrameError(`a message larger than max: ${length} octets`, true);
    this.#hasHead = true;
    this.#wanted = HEAD_OCTETS + length;
  }
}
