/**
 * Text as octets, in memory that is used again: for lines that are written by the hundred thousand.
 */
const FIRST_OCTETS = 2 ** 10;
const ZERO = 0x30;
/** The most octets that UTF-8 needs for a unit of a string. */
const MAX_OF_UNIT = 3;
const MAX_DIGITS = 16;

export class TextBuffer {
  #octets = Buffer.allocUnsafeSlow(FIRST_OCTETS);
  #isAscii = true;
  /** Octets that it holds. A smaller number removes text. */
  length = 0;

  /**
   * Makes room behind the text. To add to it, write there and increase `length`, with nothing but ASCII.
   *
   * @returns all octets, until the next call
   */
  reserve(count: number): Uint8Array {
    const needed = this.length + count;
    if (needed > this.#octets.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#octets.length));
      larger.set(this.#octets.subarray(0, this.length));
      this.#octets = larger;
    }
    return this.#octets;
  }

  addText(text: string): void {
    const octets = this.reserve(MAX_OF_UNIT * text.length);
    const before = this.length;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) {
        this.length = before + this.#octets.write(text, before);
        this.#isAscii = false;
        return;
      }
      octets[before + index] = code;
    }
    this.length = before + text.length;
  }

  /** @param from octets of UTF-8, from one offset to another */
  addOctets(from: Uint8Array, start = 0, end = from.length): void {
    const octets = this.reserve(end - start);
    let to = this.length;
    let bits = 0;
    for (let at = start; at < end; at++) {
      const octet = from[at] ?? 0;
      octets[to++] = octet;
      bits |= octet;
    }
    this.length = to;
    if (bits > 0x7f) this.#isAscii = false;
  }

  /** @param octet of ASCII */
  addOctet(octet: number): void {
    this.reserve(1)[this.length++] = octet;
  }

  /** @param number a natural number below 2^53 @param digits at least; zeros fill up */
  addNumber(number: number, digits = 1): void {
    const octets = this.reserve(MAX_DIGITS);
    let end = this.length + digits;
    for (let limit = 10 ** digits; limit <= number; limit *= 10) end += 1;
    let left = number;
    for (let at = end - 1; at >= this.length; at--) {
      const tenth = Math.floor(left / 10);
      octets[at] = ZERO + left - tenth * 10;
      left = tenth;
    }
    this.length = end;
  }

  /** The octets of the text, until the next change. */
  get octets(): Uint8Array {
    return this.#octets.subarray(0, this.length);
  }

  /** @param start an offset of octets */
  textFrom(start: number): string {
    return this.#octets.toString(this.#isAscii ? 'latin1' : 'utf8', start, this.length);
  }

  toString(): string {
    return this.textFrom(0);
  }

  clear(): void {
    this.length = 0;
    this.#isAscii = true;
  }
}
