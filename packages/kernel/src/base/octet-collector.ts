/**
 * Octets that come in pieces, in memory of their own.
 *
 * A piece of a stream is a view of all that was received with it. Who keeps the piece keeps all of that: 64 KiB for an octet, or a view
 * of 100 octets.
 */
const NOTHING = Buffer.alloc(0);

export class OctetCollector {
  #memory = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** All that was added, in at most twice as much memory. */
  get octets(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#memory.length) {
      // Not of Node's pool, whose blocks of 8 KiB are kept by any of their parts.
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#memory.length));
      larger.set(this.octets);
      this.#memory = larger;
    }
    this.#memory.set(piece, this.#length);
    this.#length = length;
  }
}
