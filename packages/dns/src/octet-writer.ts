/**
 * Writes consecutive numbers, strings and names in network order (most significant octet first).
 *
 * The memory holds the longest message. Octets beyond it are counted but not written, so these methods need no checks:
 * the writer of a record compares `position` with its limit afterwards.
 */
import { NameCompression } from './name-compression.ts';
import { writeName } from './name-wire.ts';
import { MAX_MESSAGE_OCTETS } from './response-size.ts';
import type { AbsoluteName } from './types.ts';

export class OctetWriter {
  readonly octets = new Uint8Array(MAX_MESSAGE_OCTETS);
  /** Where the next octet goes. */
  position = 0;
  /** Whether to compress names. */
  compresses = true;
  readonly #names = new NameCompression(this.octets);
  /** The name written last and its offset, since records of a set share an owner; or undefined. */
  #lastName: AbsoluteName | undefined;
  #lastNameAt = 0;

  /** Whether names are compressed only against those in the same letters. */
  set keepsLetters(keeps: boolean) {
    this.#names.keepsLetters = keeps;
  }

  /** The number of names that the compression knows, for a rewind. */
  get nameCount(): number {
    return this.#names.count;
  }

  rewind(position: number, nameCount: number): void {
    this.position = position;
    this.#names.rewind(nameCount);
    this.#lastName = undefined;
  }

  uint8(value: number): void {
    this.octets[this.position] = value;
    this.position += 1;
  }

  uint16(value: number): void {
    this.octets[this.position] = value >>> 8;
    this.octets[this.position + 1] = value;
    this.position += 2;
  }

  uint32(value: number): void {
    this.octets[this.position] = value >>> 24;
    this.octets[this.position + 1] = value >>> 16;
    this.octets[this.position + 2] = value >>> 8;
    this.octets[this.position + 3] = value;
    this.position += 4;
  }

  bytes(bytes: Uint8Array): void {
    if (this.position + bytes.length <= this.octets.length) this.octets.set(bytes, this.position);
    this.position += bytes.length;
  }

  /** A character string (RFC 1035 section 3.3). @param bytes At most 255. */
  characterString(bytes: Uint8Array): void {
    this.uint8(bytes.length);
    this.bytes(bytes);
  }

  /** A name that may be compressed: owners, and names in the data of RFC 1035 types. */
  name(name: AbsoluteName): void {
    this.#writeName(name, true);
  }

  /** A name that must not be compressed (RFC 3597 section 4). Later names may still point to it. */
  fullName(name: AbsoluteName): void {
    this.#writeName(name, false);
  }

  #writeName(name: AbsoluteName, mayShorten: boolean): void {
    if (!this.compresses) {
      this.position = writeName(name, this.octets, this.position);
      return;
    }
    if (mayShorten && name === this.#lastName) {
      this.uint16(0xc000 | this.#lastNameAt);
      return;
    }
    const end = writeName(name, this.octets, this.position);
    if (end > this.octets.length) {
      this.position = end;
      return;
    }
    this.position = this.#names.add(this.position, end, mayShorten);
    const wholeAt = this.#names.offsetOfLast;
    this.#lastName = wholeAt === 0 ? undefined : name;
    this.#lastNameAt = wholeAt;
  }
}
