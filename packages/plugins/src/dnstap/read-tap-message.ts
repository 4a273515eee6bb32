/**
 * Reads the queries of clients in messages of dnstap that other servers sent.
 */
import { Cursor } from '@portolan/kernel/base/protobuf-message.ts';
import { TAP_TYPE } from './tap-message.ts';

const DELIMITED = 2;
const VARINT = 0;
/** Fields of Dnstap and of its Message. */
const FIELD = { message: 14, type: 1, queryMessage: 10 } as const;

/**
 * @returns the DNS message of a client's query, a view of the frame; undefined for other messages, and where it is left out
 * @throws ProtobufError
 */
export function readClientQuery(frame: Buffer): Buffer | undefined {
  const { message } = readFields(new Cursor(frame), { message: FIELD.message });
  if (message === undefined) return undefined;
  const { type, message: query } = readFields(new Cursor(message), {
    type: FIELD.type,
    message: FIELD.queryMessage,
  });
  return type === TAP_TYPE.CLIENT_QUERY ? query : undefined;
}

interface TapFields {
  readonly type?: number;
  readonly message?: Buffer;
}

/** The last number and the last octets under two numbers of fields. */
function readFields(cursor: Cursor, wanted: { readonly type?: number; readonly message: number }): TapFields {
  let [type, message]: [number | undefined, Buffer | undefined] = [undefined, undefined];
  while (cursor.position < cursor.end) {
    const tag = cursor.readNumber();
    const wireType = tag % 8;
    const field = (tag - wireType) / 8;
    if (wireType === VARINT && field === wanted.type) type = cursor.readNumber();
    else if (wireType === DELIMITED && field === wanted.message) {
      const end = cursor.readLength();
      message = cursor.octets.subarray(cursor.position, end);
      cursor.position = end;
    } else cursor.skip(wireType);
  }
  return { ...(type !== undefined && { type }), ...(message && { message }) };
}
