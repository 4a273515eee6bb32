/**
 * Reads consecutive numbers, strings and names, never beyond its end.
 *
 * It only returns copies, so the message's memory may be reused at once.
 */
import { readName } from './name-wire.ts';
import type { AbsoluteName } from './types.ts';
import { WireError } from './wire-error.ts';

export class OctetReader {
  readonly message: Uint8Array;
  position: number;
  /** The offset after the last readable octet: of the message, or of one record's data. */
  end: number;

  constructor(message: Uint8Array, position = 0) {
    this.message = message;
    this.position = position;
    this.end = message.length;
  }

  get remaining(): number {
    return this.end - this.position;
  }

  uint8(): number {
    return this.message[this.#take(1)] ?? 0;
  }

  uint16(): number {
    const at = this.#take(2);
    return ((this.message[at] ?? 0) << 8) | (this.message[at + 1] ?? 0);
  }

  uint32(): number {
    return this.uint16() * 0x1_0000 + this.uint16();
  }

  bytes(count: number): Uint8Array {
    const at = this.#take(count);
    // Not `slice`, which shares memory if this is a Buffer.
    return new Uint8Array(this.message.subarray(at, at + count));
  }

  rest(): Uint8Array {
    return this.bytes(this.remaining);
  }

  characterString(): Uint8Array {
    return this.bytes(this.uint8());
  }

  /** A name whose pointers may lead to any earlier place in the message. */
  name(): AbsoluteName {
    const { name, next } = readName(this.message, this.position);
    if (next > this.end) throw new WireError('name leaves its record', this.position);
    this.position = next;
    return name;
  }

  #take(count: number): number {
    const at = this.position;
    if (at + count > this.end) throw new WireError(`${count} octets wanted, ${this.remaining} left`, at);
    this.position = at + count;
    return at;
  }
}
