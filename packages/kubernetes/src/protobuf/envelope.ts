/**
 * The envelope of an object in Protocol Buffers: four magic octets and a `runtime.Unknown` with the kind and the octets of
 * the object; in a watch this is inside a `WatchEvent`.
 */
import { Cursor, ProtobufError, readMessage, type Schema } from '@portolan/kernel/base/protobuf-message.ts';
import { readObjectOfKind } from './schemas.ts';

/** `k8s` and a zero. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** Whether a body is in Protocol Buffers, by its Content-Type: the server chooses the encoding. */
export function isProtobuf(contentType: unknown): boolean {
  return typeof contentType === 'string' && contentType.startsWith('application/vnd.kubernetes.protobuf');
}

const typeMeta: Schema = new Map([[2, { name: 'kind', kind: 'text' }]]);

/**
 * Reads an object with its envelope: the body of an answer, or the object of an event.
 *
 * @throws ProtobufError
 */
export function readObject(octets: Buffer, start = 0, end = octets.length): unknown {
  const cursor = openUnknown(octets, start, end);
  let kind = '';
  let object: Cursor | undefined;
  while (cursor.position < cursor.end) {
    const tag = cursor.readNumber();
    if (tag !== TYPE_META && tag !== RAW) {
      cursor.skip(tag % 8);
      continue;
    }
    const fieldEnd = cursor.readLength();
    const field = new Cursor(octets, cursor.position, fieldEnd);
    cursor.position = fieldEnd;
    if (tag === RAW) object = field;
    else kind = readKind(field);
  }
  if (object === undefined) throw new ProtobufError('it holds no object');
  return readObjectOfKind(kind, object);
}

/** The tags of the fields of Unknown: number and wire type. */
export const TYPE_META = 0x0a;
export const RAW = 0x12;

/** @throws ProtobufError unless it begins with the magic octets */
export function openUnknown(octets: Buffer, start: number, end: number): Cursor {
  const isMarked = end - start >= MAGIC.length && MAGIC.equals(octets.subarray(start, start + MAGIC.length));
  if (!isMarked) throw new ProtobufError('it does not begin with the magic octets');
  return new Cursor(octets, start + MAGIC.length, end);
}

export function readKind(field: Cursor): string {
  const { kind } = readMessage(field, typeMeta);
  return typeof kind === 'string' ? kind : '';
}

const TYPE = 0x0a;
const OBJECT = 0x12;

/**
 * Reads a frame of a watch into the shape of the JSON line.
 *
 * @throws ProtobufError
 */
export function readEvent(frame: Buffer): { readonly type: string; readonly object: unknown } {
  const cursor = new Cursor(frame);
  let type = '';
  let object: unknown;
  while (cursor.position < cursor.end) {
    const tag = cursor.readNumber();
    if (tag !== TYPE && tag !== OBJECT) {
      cursor.skip(tag % 8);
      continue;
    }
    const end = cursor.readLength();
    if (tag === TYPE) type = frame.toString('utf8', cursor.position, end);
    else object = readRaw(new Cursor(frame, cursor.position, end));
    cursor.position = end;
  }
  return { type, object };
}

/** The one field of RawExtension. */
const RAW_EXTENSION = 0x0a;

function readRaw(cursor: Cursor): unknown {
  let object: unknown;
  while (cursor.position < cursor.end) {
    const tag = cursor.readNumber();
    if (tag !== RAW_EXTENSION) {
      cursor.skip(tag % 8);
      continue;
    }
    const end = cursor.readLength();
    object = readObject(cursor.octets, cursor.position, end);
    cursor.position = end;
  }
  return object;
}
