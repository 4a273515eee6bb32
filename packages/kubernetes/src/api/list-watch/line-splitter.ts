/**
 * Splits a stream of octets into lines, in bounded memory.
 *
 * Lines are cut at the octet LF, which is never part of another UTF-8 character, so a character that spans two pieces
 * stays intact.
 */
export class LineTooLongError extends Error {
  readonly limit: number;

  constructor(limit: number) {
    super(`A line of a watch is longer than allowed: ${limit} octets`);
    this.name = 'LineTooLongError';
    this.limit = limit;
  }
}

const LINE_FEED = 0x0a;

export class LineSplitter {
  readonly #limit: number;
  #pieces: Uint8Array[] = [];
  #held = 0;

  /** `limit` is the maximum line length, in octets. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Octets held of an unfinished line. */
  get held(): number {
    return this.#held;
  }

  /**
   * Takes the next octets and passes on each completed line, without its end. Empty lines are skipped.
   * @throws {LineTooLongError}
   */
  push(octets: Uint8Array, take: (line: string) => void): void {
    let start = 0;
    for (
      let end = octets.indexOf(LINE_FEED);
      end !== -1;
      start = end + 1, end = octets.indexOf(LINE_FEED, start)
    ) {
      const line = this.#complete(octets.subarray(start, end));
      if (line !== '') take(line);
    }
    if (start < octets.length) this.#hold(octets.subarray(start));
  }

  #complete(rest: Uint8Array): string {
    this.#check(rest.length);
    const whole = this.#pieces.length === 0 ? rest : Buffer.concat([...this.#pieces, rest]);
    this.#pieces = [];
    this.#held = 0;
    return Buffer.from(whole.buffer, whole.byteOffset, whole.length).toString('utf8').trim();
  }

  #hold(rest: Uint8Array): void {
    this.#check(rest.length);
    this.#pieces.push(rest);
    this.#held += rest.length;
  }

  #check(more: number): void {
    if (this.#held + more > this.#limit) throw new LineTooLongError(this.#limit);
  }
}
