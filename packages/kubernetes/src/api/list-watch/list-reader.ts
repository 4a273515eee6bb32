/**
 * Parses a list of the API server while it arrives, object by object, so that memory never holds its whole text or all its
 * objects.
 *
 * It tracks only strings and brackets. It passes on the elements of the top-level array `items` one by one; the rest, the
 * envelope, is small and kept.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The answer is not a list, or has a part longer than an API server sends. */
export class MalformedListError extends Error {
  constructor(problem: string) {
    super(`An answer is not a list: ${problem}`);
    this.name = 'MalformedListError';
  }
}

export interface ListReaderLimits {
  /** In octets. */
  readonly item: number;
  readonly envelope: number;
}

/** An object may be 1.5 MB in etcd, and more as JSON. */
const usualLimits: ListReaderLimits = { item: 16 * 1024 * 1024, envelope: 1024 * 1024 };

export class ListReader {
  readonly #take: (item: unknown) => void;
  readonly #limits: ListReaderLimits;
  readonly #envelope: Uint8Array[] = [];
  #envelopeLength = 0;
  #item: Uint8Array[] = [];
  #itemLength = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #inItems = false;

  /** `take` is called with each item, parsed. */
  constructor(take: (item: unknown) => void, limits = usualLimits) {
    this.#take = take;
    this.#limits = limits;
  }

  /** @throws {MalformedListError} */
  push(octets: Uint8Array): void {
    let start = 0;
    for (let index = 0; index < octets.length; index += 1) {
      const octet = octets[index];
      if (this.#inString) this.#followString(octet);
      else if (octet === QUOTE) this.#inString = true;
      else if (octet === OPEN_BRACE || octet === OPEN_BRACKET) {
        this.#depth += 1;
        if (octet !== OPEN_BRACKET || this.#depth !== 2) continue;
        this.#hold(octets.subarray(start, index + 1));
        start = index + 1;
        this.#inItems = /"items"\s*:\s*\[$/.test(this.#envelopeText);
      } else if (octet === COMMA || octet === CLOSE_BRACKET || octet === CLOSE_BRACE) {
        const between = this.#inItems && this.#depth === 2;
        if (octet !== COMMA) this.#depth -= 1;
        if (!between) continue;
        this.#hold(octets.subarray(start, index));
        this.#complete();
        start = octet === COMMA ? index + 1 : index;
        this.#inItems = octet === COMMA;
      }
    }
    this.#hold(octets.subarray(start));
  }

  /**
   * @returns the list without its items
   * @throws {MalformedListError} if it is incomplete
   */
  finish(): unknown {
    return parse(this.#envelopeText);
  }

  get #envelopeText(): string {
    return Buffer.concat(this.#envelope).toString('utf8');
  }

  #followString(octet: number | undefined): void {
    if (this.#escaped) this.#escaped = false;
    else if (octet === BACKSLASH) this.#escaped = true;
    else if (octet === QUOTE) this.#inString = false;
  }

  #hold(octets: Uint8Array): void {
    if (octets.length === 0) return;
    const { item, envelope } = this.#limits;
    if (this.#inItems) {
      this.#item.push(octets);
      this.#itemLength += octets.length;
      if (this.#itemLength > item) throw new MalformedListError(`an item is longer than ${item} octets`);
    } else {
      this.#envelope.push(octets);
      this.#envelopeLength += octets.length;
      if (this.#envelopeLength > envelope) {
        throw new MalformedListError(`it has more than ${envelope} octets beside its items`);
      }
    }
  }

  #complete(): void {
    const [first] = this.#item;
    const whole = this.#item.length === 1 && first !== undefined ? first : Buffer.concat(this.#item);
    this.#item = [];
    this.#itemLength = 0;
    const text = Buffer.from(whole.buffer, whole.byteOffset, whole.length).toString('utf8');
    // An empty list has only white space between its brackets.
    if (text.trim() !== '') this.#take(parse(text));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedListError('it is not JSON, or not whole');
  }
}
