/**
 * Reads the wanted fields of Protocol Buffers messages by number, and skips all others by length.
 *
 * The result has the shape of the same object in JSON, so that both encodings are trimmed by the same functions. An empty
 * string is left out: the API server always writes the strings that JSON omits when empty.
 */
import { ItemFault } from './item-guard.ts';

export type FieldKind = 'text' | 'texts' | 'number' | 'flag' | 'map' | 'quantities' | 'message' | 'messages';

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** Of a message and of a list of messages. */
  readonly schema?: Schema;
  /** Of a map, of texts or of quantities: the wanted keys. */
  readonly keys?: ReadonlySet<string>;
}

/** The wanted fields by their numbers. */
export type Schema = ReadonlyMap<number, Field>;

/** The octets are not a complete Protocol Buffers message. */
export class ProtobufError extends ItemFault {
  override readonly name = 'ProtobufError';

  constructor(problem: string) {
    super('malformed', `not a Protocol Buffers message: ${problem}`);
  }
}

const VARINT = 0;
const FIXED_64 = 1;
const DELIMITED = 2;
const FIXED_32 = 5;

/** A read position in octets. */
export class Cursor {
  readonly octets: Buffer;
  position: number;
  /** End of the current message. */
  end: number;

  constructor(octets: Buffer, position = 0, end = octets.length) {
    this.octets = octets;
    this.position = position;
    this.end = end;
  }

  /**
   * A varint as a number: exact up to 2^53, enough for all numbers of the API server.
   *
   * @throws ProtobufError
   */
  readNumber(): number {
    const first = this.position < this.end ? this.octets[this.position] : undefined;
    if (first !== undefined && first < 0x80) {
      this.position += 1;
      return first;
    }
    const second = this.position + 1 < this.end ? this.octets[this.position + 1] : undefined;
    if (first !== undefined && second !== undefined && second < 0x80) {
      this.position += 2;
      return (first & 0x7f) | (second << 7);
    }
    let value = 0;
    for (let factor = 1; factor < 2 ** 70; factor *= 128) {
      const octet = this.position < this.end ? this.octets[this.position] : undefined;
      if (octet === undefined) throw new ProtobufError('a number is cut off');
      this.position += 1;
      value += (octet & 0x7f) * factor;
      if (octet < 0x80) return value;
    }
    throw new ProtobufError('a number has more than 10 octets');
  }

  /**
   * Reads a length and returns the end of the data after it; the position is then at its start.
   *
   * @throws ProtobufError
   */
  readLength(): number {
    const length = this.readNumber();
    if (length > this.end - this.position) throw new ProtobufError('a field is cut off');
    return this.position + length;
  }

  /** @throws ProtobufError */
  skip(wireType: number): void {
    if (wireType === VARINT) this.readNumber();
    else if (wireType === DELIMITED) this.position = this.readLength();
    else if (wireType === FIXED_64) this.#pass(8);
    else if (wireType === FIXED_32) this.#pass(4);
    else throw new ProtobufError(`wire type ${wireType}`);
  }

  #pass(octets: number): void {
    if (octets > this.end - this.position) throw new ProtobufError('a field is cut off');
    this.position += octets;
  }
}

type MessageFields = { [name: string]: unknown };

/**
 * The message between the cursor's position and its end.
 *
 * @throws ProtobufError
 */
export function readMessage(cursor: Cursor, schema: Schema): MessageFields {
  const message: MessageFields = {};
  while (cursor.position < cursor.end) {
    const tag = cursor.readNumber();
    const wireType = tag % 8;
    const field = schema.get((tag - wireType) / 8);
    const isWanted = field !== undefined && wireType === toWireType(field.kind);
    if (isWanted) readField(cursor, field, message);
    else cursor.skip(wireType);
  }
  return message;
}

function toWireType(kind: FieldKind): number {
  return kind === 'number' || kind === 'flag' ? VARINT : DELIMITED;
}

function readField(cursor: Cursor, field: Field, message: MessageFields): void {
  const { name, kind } = field;
  if (kind === 'number' || kind === 'flag') {
    const value = cursor.readNumber();
    message[name] = kind === 'flag' ? value !== 0 : value;
    return;
  }
  const { octets } = cursor;
  const end = cursor.readLength();
  const first = cursor.position;
  cursor.position = end;
  switch (kind) {
    case 'text':
      if (end > first) message[name] = octets.toString('utf8', first, end);
      break;
    case 'texts':
      listIn(message, name).push(octets.toString('utf8', first, end));
      break;
    case 'map':
    case 'quantities':
      within(cursor, first, end, () => readEntry(cursor, field, message));
      break;
    case 'message':
      message[name] = readInner(cursor, first, end, field.schema ?? NO_FIELDS);
      break;
    case 'messages':
      listIn(message, name).push(readInner(cursor, first, end, field.schema ?? NO_FIELDS));
  }
}

/** As `within`, but without creating a function for each inner message. */
function readInner(cursor: Cursor, start: number, end: number, schema: Schema): MessageFields {
  const outer = cursor.end;
  cursor.position = start;
  cursor.end = end;
  const message = readMessage(cursor, schema);
  cursor.position = end;
  cursor.end = outer;
  return message;
}

/** Reads between two positions and moves the cursor to the end. */
function within<Value>(cursor: Cursor, start: number, end: number, read: () => Value): Value {
  const outer = cursor.end;
  cursor.position = start;
  cursor.end = end;
  const value = read();
  cursor.position = end;
  cursor.end = outer;
  return value;
}

const NO_FIELDS: Schema = new Map();

function listIn(message: MessageFields, name: string): unknown[] {
  const list = message[name];
  if (Array.isArray(list)) return list;
  const made: unknown[] = [];
  message[name] = made;
  return made;
}

const KEY = 1;
const VALUE = 2;

/** An entry of a map is a message with a key and a value. */
function readEntry(cursor: Cursor, { name, kind, keys }: Field, message: MessageFields): void {
  let key = '';
  let value = '';
  while (cursor.position < cursor.end) {
    const tag = cursor.readNumber();
    const wireType = tag % 8;
    const number = (tag - wireType) / 8;
    if (wireType !== DELIMITED || (number !== KEY && number !== VALUE)) {
      cursor.skip(wireType);
      continue;
    }
    const end = cursor.readLength();
    if (number === KEY && keys !== undefined && !hasLength(keys, end - cursor.position)) return;
    const isMessage = number === VALUE && kind === 'quantities';
    const text = isMessage
      ? within(cursor, cursor.position, end, () => readQuantity(cursor))
      : cursor.octets.toString('utf8', cursor.position, end);
    cursor.position = end;
    if (number === VALUE) value = text;
    else if (keys === undefined || keys.has(text)) key = text;
    else return;
  }
  // Without a prototype `__proto__` is a key like any other, as it is for JSON.parse.
  const entries = (message[name] ?? Object.create(null)) as { [key: string]: string };
  entries[key] = value;
  message[name] = entries;
}

/** Whether one of the keys, which are ASCII, has this length: keys of other lengths need not be decoded. */
function hasLength(keys: ReadonlySet<string>, length: number): boolean {
  for (const key of keys) if (key.length === length) return true;
  return false;
}

const QUANTITY: Schema = new Map([[1, { name: 'string', kind: 'text' }]]);

/** A quantity is a message with its text. */
function readQuantity(cursor: Cursor): string {
  const { string } = readMessage(cursor, QUANTITY);
  return typeof string === 'string' ? string : '';
}
