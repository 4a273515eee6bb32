/**
 * The metadata of an object in Protocol Buffers: names, and the values of some keys.
 */
import type { Cursor } from '@portolan/kernel/base/protobuf-message.ts';
import { ALPN_ANNOTATION } from '../names/app-protocol.ts';
import {
  clearRange,
  delimited,
  isText,
  newRange,
  type OctetSpan,
  readInner,
  readRange,
} from './protobuf-fields.ts';

const NAME = delimited(1);
const NAMESPACE = delimited(3);
const LABELS = delimited(11);
const ANNOTATIONS = delimited(12);
const KEY = delimited(1);
const VALUE = delimited(2);

const SERVICE_NAME = Buffer.from('kubernetes.io/service-name', 'latin1');
const CHANGE_TIME = Buffer.from('endpoints.kubernetes.io/last-change-trigger-time', 'latin1');
const ALPN = Buffer.from(ALPN_ANNOTATION, 'latin1');

/** Reads metadata again and again, for one object after the other. */
export class MetadataReader {
  readonly name = newRange();
  readonly namespace = newRange();
  /** The service that a slice belongs to. */
  readonly service = newRange();
  /** When the controller saw the cause of the last change. */
  readonly changeTime = newRange();
  /** The versions of HTTP that a service speaks. */
  readonly alpn = newRange();
  readonly #key = newRange();
  readonly #value = newRange();

  clear(): void {
    for (const range of [this.name, this.namespace, this.service, this.changeTime, this.alpn])
      clearRange(range);
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
    const range = this.#findRange(cursor.octets);
    if (range === undefined) return;
    range.start = this.#value.start;
    range.end = this.#value.end;
  }

  #findRange(octets: Uint8Array): OctetSpan | undefined {
    if (isText(octets, this.#key, SERVICE_NAME)) return this.service;
    if (isText(octets, this.#key, CHANGE_TIME)) return this.changeTime;
    return isText(octets, this.#key, ALPN) ? this.alpn : undefined;
  }

  readonly #takeOfEntry = (tag: number, cursor: Cursor): boolean => {
    if (tag === KEY) readRange(cursor, this.#key);
    else if (tag === VALUE) readRange(cursor, this.#value);
    else return false;
    return true;
  };
}
