/**
 * The metadata of an object in Protocol Buffers: names, and the values of two keys.
 */
import type { Cursor } from '@portolan/kernel/base/protobuf-message.ts';
import { clearRange, delimited, isText, newRange, readInner, readRange } from './protobuf-fields.ts';

const NAME = delimited(1);
const NAMESPACE = delimited(3);
const LABELS = delimited(11);
const ANNOTATIONS = delimited(12);
const KEY = delimited(1);
const VALUE = delimited(2);

const SERVICE_NAME = Buffer.from('kubernetes.io/service-name', 'latin1');
const CHANGE_TIME = Buffer.from('endpoints.kubernetes.io/last-change-trigger-time', 'latin1');

/** Reads metadata again and again, for one object after the other. */
export class MetadataReader {
  readonly name = newRange();
  readonly namespace = newRange();
  /** The service that a slice belongs to. */
  readonly service = newRange();
  /** When the controller saw the cause of the last change. */
  readonly changeTime = newRange();
  readonly #key = newRange();
  readonly #value = newRange();

  clear(): void {
    for (const range of [this.name, this.namespace, this.service, this.changeTime]) clearRange(range);
  }

  /** Reads the message at the cursor. @throws ProtobufError */
  read(cursor: Cursor): void {
    readInner(cursor, this.#take);
  }

  readonly #take = (tag: number, cursor: Cursor): boolean => {
    if (tag === NAME) readRange(cursor, this.name);
    else if (tag === NAMESPACE) readRange(cursor, this.namespace);
    else if (tag === LABELS || tag === ANNOTATIONS) this.#readEntry(cursor);
    else return false;
    return true;
  };

  #readEntry(cursor: Cursor): void {
    clearRange(this.#key);
    clearRange(this.#value);
    readInner(cursor, this.#takeOfEntry);
    const range = isText(cursor.octets, this.#key, SERVICE_NAME)
      ? this.service
      : isText(cursor.octets, this.#key, CHANGE_TIME)
        ? this.changeTime
        : undefined;
    if (range === undefined) return;
    range.start = this.#value.start;
    range.end = this.#value.end;
  }

  readonly #takeOfEntry = (tag: number, cursor: Cursor): boolean => {
    if (tag === KEY) readRange(cursor, this.#key);
    else if (tag === VALUE) readRange(cursor, this.#value);
    else return false;
    return true;
  };
}
