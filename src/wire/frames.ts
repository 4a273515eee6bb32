/**
 * Messages out of a byte stream: each is preceded by its length in two octets (RFC 1035 section 4.2.2).
 *
 * What arrives in one piece is given out as a view of it. A message in pieces is gathered in a buffer that grows with what
 * has come, not with what was announced, so that an announcement costs us nothing.
 */
const PREFIX_OCTETS = 2;
const MIN_GATHERED_OCTETS = 512;
const NONE = new Uint8Array(0);

export class FrameParser {
  #chunk: Uint8Array = NONE;
  #at = 0;
  /** The beginning of a message that came in pieces, prefix included. */
  #gathered: Uint8Array = NONE;
  #filled = 0;

  /** Octets that it holds of messages not taken out yet. */
  get held(): number {
    return this.#gathered.length + this.#chunk.length - this.#at;
  }

  /** Takes more of the stream. All messages of what came before must have been taken out by `next`. */
  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#at = 0;
  }

  /** The next whole message, to be used before the next call; `undefined` if more of the stream is needed. */
  next(): Uint8Array | undefined {
    if (this.#filled > 0) return this.#gather();
    const start = this.#at + PREFIX_OCTETS;
    const left = this.#chunk.length - start;
    if (left >= 0) {
      const length = prefixAt(this.#chunk, this.#at);
      if (length <= left) {
        this.#at = start + length;
        return this.#chunk.subarray(start, this.#at);
      }
    }
    this.#take(this.#chunk.length - this.#at);
    return undefined;
  }

  /** Takes more of the stream and gives out the messages that are whole now, each to be used at once. */
  *messages(chunk: Uint8Array): Generator<Uint8Array> {
    this.push(chunk);
    for (let message = this.next(); message !== undefined; message = this.next()) yield message;
  }

  #gather(): Uint8Array | undefined {
    this.#take(PREFIX_OCTETS - this.#filled);
    if (this.#filled < PREFIX_OCTETS) return undefined;
    const whole = PREFIX_OCTETS + prefixAt(this.#gathered, 0);
    this.#take(whole - this.#filled);
    if (this.#filled < whole) return undefined;
    this.#filled = 0;
    const message = this.#gathered.subarray(PREFIX_OCTETS, whole);
    this.#gathered = NONE;
    return message;
  }

  /** Moves up to `wanted` octets of the chunk to what is gathered. */
  #take(wanted: number): void {
    const end = Math.min(this.#chunk.length, this.#at + Math.max(0, wanted));
    const filled = this.#filled + end - this.#at;
    if (filled > this.#gathered.length) {
      const larger = new Uint8Array(Math.max(MIN_GATHERED_OCTETS, filled, 2 * this.#gathered.length));
      larger.set(this.#gathered.subarray(0, this.#filled));
      this.#gathered = larger;
    }
    this.#gathered.set(this.#chunk.subarray(this.#at, end), this.#filled);
    this.#filled = filled;
    this.#at = end;
    // A connection that waits for more holds on to nothing.
    if (end === this.#chunk.length) this.push(NONE);
  }
}

function prefixAt(octets: Uint8Array, at: number): number {
  return ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);
}

/** The prefix of a message. @param length of the message, in octets */
export function prefixOf(length: number): Uint8Array {
  return Uint8Array.of(length >> 8, length & 0xff);
}

/** A message with its prefix, in memory of its own. */
export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(PREFIX_OCTETS + message.length);
  framed.set(prefixOf(message.length));
  framed.set(message, PREFIX_OCTETS);
  return framed;
}
