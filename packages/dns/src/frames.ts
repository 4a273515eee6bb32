/**
 * Splits a byte stream into messages: a length in two octets precedes each (RFC 1035 section 4.2.2).
 *
 * A message that arrives in one piece is returned as a view of it. A message in pieces is gathered in a buffer that
 * grows with the octets received, not with the announced length, so that an announcement costs us no memory.
 */
const PREFIX_OCTETS = 2;
const MIN_GATHERED_OCTETS = 512;
const NONE = new Uint8Array(0);

export class FrameParser {
  #chunk: Uint8Array = NONE;
  #at = 0;
  /** The pieces after `#chunk`, and their octets. */
  readonly #further: Uint8Array[] = [];
  #furtherOctets = 0;
  /** The beginning of a message that came in pieces, prefix included. */
  #gathered: Uint8Array = NONE;
  #filled = 0;

  /** Octets of messages not taken out yet. */
  get held(): number {
    return this.#gathered.length + this.#chunk.length - this.#at + this.#furtherOctets;
  }

  /** Pieces that wait behind the one whose messages `next` takes out. */
  get waiting(): number {
    return this.#further.length;
  }

  /** Adds a piece of the stream, and keeps it until its messages were taken out. */
  push(chunk: Uint8Array): void {
    if (this.#at === this.#chunk.length && this.#further.length === 0) this.#start(chunk);
    else {
      this.#further.push(chunk);
      this.#furtherOctets += chunk.length;
    }
  }

  /** The next complete message, valid until the next call; `undefined` if it needs more of the stream. */
  next(): Uint8Array | undefined {
    for (;;) {
      const message = this.#nextOfChunk();
      if (message !== undefined) return message;
      const chunk = this.#further.shift();
      if (chunk === undefined) return undefined;
      this.#furtherOctets -= chunk.length;
      this.#start(chunk);
    }
  }

  #start(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#at = 0;
  }

  #nextOfChunk(): Uint8Array | undefined {
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

  /** Adds a piece of the stream and yields the complete messages, each valid until the next one. */
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

  /** Moves up to `wanted` octets of the chunk to the gathered octets. */
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
    // A connection that waits for more keeps no memory.
    if (end === this.#chunk.length) this.#start(NONE);
  }
}

function prefixAt(octets: Uint8Array, at: number): number {
  return ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);
}

/** The prefix of a message. @param length of the message, in octets */
export function encodeLengthPrefix(length: number): Uint8Array {
  return Uint8Array.of(length >> 8, length & 0xff);
}

/** A message with its prefix, in new memory. */
export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(PREFIX_OCTETS + message.length);
  framed.set(encodeLengthPrefix(message.length));
  framed.set(message, PREFIX_OCTETS);
  return framed;
}
