/**
 * JSON as Go's `encoding/json` reads it: it refuses the same texts with the same messages, and numbers keep their original digits.
 * Users search for these messages, and cluster-proportional-autoscaler shows them at `/last-poll`.
 */

/** Kinds are named as in Go's messages. */
export type JsonNode =
  | { readonly kind: 'object'; readonly fields: readonly (readonly [name: string, value: JsonNode])[] }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'null' };

/** The text is not JSON. */
export class GoJsonError extends Error {
  override readonly name = 'GoJsonError';
}

/** Deeper than any real parameters and far from a stack overflow; Go stops at 10,000. */
const MAX_DEPTH = 1000;

/** @throws GoJsonError */
export function parseGoJson(text: string): JsonNode {
  const scanner = new Scanner(text);
  const value = scanner.value();
  scanner.skipSpace();
  if (!scanner.atEnd) scanner.refuse('after top-level value');
  return value;
}

const ESCAPES: ReadonlyMap<string, string> = new Map<string, string>([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
const LITERALS = {
  t: ['true', { kind: 'bool', value: true }],
  f: ['false', { kind: 'bool', value: false }],
  n: ['null', { kind: 'null' }],
} as const;

class Scanner {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  skipSpace(): void {
    while (' \t\r\n'.includes(this.#character) && !this.atEnd) this.#at += 1;
  }

  value(): JsonNode {
    this.skipSpace();
    const first = this.#character;
    if (first === '{') return this.#nested(() => this.#object());
    if (first === '[') return this.#nested(() => this.#array());
    if (first === '"') return { kind: 'string', value: this.#string() };
    if (first === '-' || isDigit(first)) return { kind: 'number', text: this.#number() };
    if (first === 't' || first === 'f' || first === 'n') return this.#literal(first);
    return this.refuse('looking for beginning of value');
  }

  /** @throws GoJsonError always, about the next character or the end of the text */
  refuse(where: string): never {
    if (this.atEnd) throw new GoJsonError('unexpected end of JSON input');
    const octet = Buffer.from(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0))[0] ?? 0;
    throw new GoJsonError(`invalid character ${quoteOctet(octet)} ${where}`);
  }

  get #character(): string {
    return this.#text.charAt(this.#at);
  }

  #nested(read: () => JsonNode): JsonNode {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new GoJsonError('exceeded max depth');
    this.#at += 1;
    const node = read();
    this.#depth -= 1;
    return node;
  }

  #object(): JsonNode {
    const fields: (readonly [string, JsonNode])[] = [];
    this.skipSpace();
    if (this.#take('}')) return { kind: 'object', fields };
    for (;;) {
      this.skipSpace();
      if (this.#character !== '"') this.refuse('looking for beginning of object key string');
      const name = this.#string();
      this.skipSpace();
      if (!this.#take(':')) this.refuse('after object key');
      fields.push([name, this.value()]);
      this.skipSpace();
      if (this.#take('}')) return { kind: 'object', fields };
      if (!this.#take(',')) this.refuse('after object key:value pair');
    }
  }

  #array(): JsonNode {
    const items: JsonNode[] = [];
    this.skipSpace();
    if (this.#take(']')) return { kind: 'array', items };
    for (;;) {
      items.push(this.value());
      this.skipSpace();
      if (this.#take(']')) return { kind: 'array', items };
      if (!this.#take(',')) this.refuse('after array element');
    }
  }

  #string(): string {
    this.#at += 1;
    let value = '';
    for (;;) {
      const character = this.#character;
      if (this.atEnd || character < ' ') this.refuse('in string literal');
      this.#at += 1;
      if (character === '"') return value;
      value += character === '\\' ? this.#escape() : character;
    }
  }

  #escape(): string {
    if (this.#take('u')) {
      const start = this.#at;
      for (let digits = 0; digits < 4; digits += 1) {
        if (!/^[\da-fA-F]$/.test(this.#character)) this.refuse('in \\u hexadecimal character escape');
        this.#at += 1;
      }
      return String.fromCharCode(Number.parseInt(this.#text.slice(start, this.#at), 16));
    }
    const meant = ESCAPES.get(this.#character);
    if (meant === undefined) this.refuse('in string escape code');
    this.#at += 1;
    return meant;
  }

  #number(): string {
    const start = this.#at;
    this.#take('-');
    // After a leading zero, the number must end.
    if (!this.#take('0')) this.#digits('in numeric literal');
    if (this.#take('.')) this.#digits('after decimal point in numeric literal');
    if (this.#take('e') || this.#take('E')) {
      if (!this.#take('+')) this.#take('-');
      this.#digits('in exponent of numeric literal');
    }
    return this.#text.slice(start, this.#at);
  }

  /** Reads one or more digits. */
  #digits(where: string): void {
    if (!isDigit(this.#character)) this.refuse(where);
    while (isDigit(this.#character)) this.#at += 1;
  }

  #literal(first: keyof typeof LITERALS): JsonNode {
    const [word, node] = LITERALS[first];
    for (const letter of word)
      if (!this.#take(letter)) this.refuse(`in literal ${word} (expecting '${letter}')`);
    return node;
  }

  #take(character: string): boolean {
    if (this.#character !== character) return false;
    this.#at += 1;
    return true;
  }
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

const NAMED_CONTROLS: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
};

/** Quotes an unexpected octet as Go does: as the character with that code. */
function quoteOctet(octet: number): string {
  if (octet === 0x27) return "'\\''";
  if (octet === 0x5c) return "'\\\\'";
  const isControl = octet < 0x20 || octet === 0x7f;
  const hex = octet.toString(16).padStart(2, '0');
  if (isControl) return `'${NAMED_CONTROLS[octet] ?? `\\x${hex}`}'`;
  const isPrintable = octet < 0x7f || (octet > 0xa0 && octet !== 0xad);
  return isPrintable ? `'${String.fromCharCode(octet)}'` : `'\\u00${hex}'`;
}

/**
 * Writes a node as Go's `json.Marshal` writes a value that it read into `interface{}`: without blanks, with sorted keys, the
 * last of equal keys, numbers as 64-bit floats, and `<`, `>` and `&` escaped.
 *
 * @throws GoJsonError for a number beyond the range of a 64-bit float
 */
export function writeGoJson(node: JsonNode): string {
  switch (node.kind) {
    case 'object': {
      const fields = [...new Map(node.fields)].toSorted(([one], [other]) => (one < other ? -1 : 1));
      return `{${fields.map(([name, value]) => `${writeString(name)}:${writeGoJson(value)}`).join()}}`;
    }
    case 'array':
      return `[${node.items.map(writeGoJson).join()}]`;
    case 'string':
      return writeString(node.value);
    case 'number':
      return writeNumber(node.text);
    case 'bool':
      return String(node.value);
    case 'null':
      return 'null';
  }
}

function writeNumber(text: string): string {
  const value = Number(text);
  if (!Number.isFinite(value))
    throw new GoJsonError(`json: cannot unmarshal number ${text} into Go value of type float64`);
  return Object.is(value, -0) ? '-0' : String(value);
}

function writeString(value: string): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
