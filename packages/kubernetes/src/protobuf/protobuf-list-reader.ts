/**
 * Parses a list in Protocol Buffers while it arrives, object by object: it holds only the unfinished object.
 */
import { Cursor, ProtobufError, readMessage } from '@portolan/kernel/base/protobuf-message.ts';
import { openUnknown, RAW, readKind, TYPE_META } from './envelope.ts';
import { listMeta, readObjectOfKind } from './schemas.ts';

/** Octets of one field: an object may have 1.5 MB in etcd. */
const MAX_FIELD = 16 * 1024 * 1024;
const MAGIC_LENGTH = 4;
/** The tags of the two fields of every list. */
const METADATA = 0x0a;
const ITEM = 0x12;

export class ProtobufListReader {
  readonly #take: (item: unknown) => void;
  #held: Buffer = Buffer.alloc(0);
  #state: 'magic' | 'envelope' | 'list' = 'magic';
  /** Octets of the list that are not read yet. */
  #left = 0;
  #isWhole = false;
  #kind = '';
  #metadata: unknown;

  /** `take` is called with each item, in the shape of JSON. */
  constructor(take: (item: unknown) => void) {
    this.#take = take;
  }

  /** @throws {ProtobufError} */
  push(octets: Uint8Array): void {
    const more = Buffer.from(octets.buffer, octets.byteOffset, octets.length);
    const all = this.#held.length === 0 ? more : Buffer.concat([this.#held, more]);
    this.#held = all.subarray(this.#read(all));
    if (this.#held.length > MAX_FIELD) throw new ProtobufError(`a field is longer than ${MAX_FIELD} octets`);
  }

  /**
   * @returns the list without its items, in the shape of JSON
   * @throws {ProtobufError} if it is incomplete
   */
  finish(): unknown {
    if (!this.#isWhole || this.#held.length > 0) throw new ProtobufError('the list is not whole');
    return { metadata: this.#metadata };
  }

  /** @returns how many octets were read */
  #read(octets: Buffer): number {
    let position = 0;
    if (this.#state === 'magic') {
      if (octets.length < MAGIC_LENGTH) return 0;
      position = openUnknown(octets, 0, octets.length).position;
      this.#state = 'envelope';
    }
    for (;;) {
      const next = this.#readField(octets, position);
      if (next === undefined) return position;
      position = next;
    }
  }

  /** @returns where the next field begins; undefined while this one is incomplete */
  #readField(octets: Buffer, position: number): number | undefined {
    const head = readHead(octets, position);
    if (head === undefined) return undefined;
    const { tag, start, end } = head;
    if (this.#state === 'envelope' && tag === RAW) {
      // Do not wait for the raw object: it is the whole list.
      this.#state = end > start ? 'list' : 'envelope';
      this.#left = end - start;
      this.#isWhole = end === start;
      return start;
    }
    if (end > octets.length) return undefined;
    if (this.#state === 'list') this.#readOfList(tag, new Cursor(octets, start, end), end - position);
    else if (tag === TYPE_META) this.#kind = readKind(new Cursor(octets, start, end)).replace(/List$/, '');
    return end;
  }

  #readOfList(tag: number, field: Cursor, length: number): void {
    if (tag === ITEM) this.#take(readObjectOfKind(this.#kind, field));
    else if (tag === METADATA) this.#metadata = readMessage(field, listMeta);
    this.#left -= length;
    if (this.#left < 0) throw new ProtobufError('a field is longer than its list');
    if (this.#left > 0) return;
    this.#state = 'envelope';
    this.#isWhole = true;
  }
}

interface FieldHead {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

/** The head of a field with a length; undefined while it is incomplete. All fields here have a length. */
function readHead(octets: Buffer, position: number): FieldHead | undefined {
  // A tag and a length have at most 20 octets; with fewer the head may be cut off.
  const isShort = octets.length - position < 20;
  const cursor = new Cursor(octets, position);
  try {
    const tag = cursor.readNumber();
    if (tag % 8 !== 2) throw new ProtobufError(`a field of a list has wire type ${tag % 8}`);
    const length = cursor.readNumber();
    return { tag, start: cursor.position, end: cursor.position + length };
  } catch (error) {
    if (isShort && error instanceof ProtobufError && cursor.position >= octets.length) return undefined;
    throw error;
  }
}
