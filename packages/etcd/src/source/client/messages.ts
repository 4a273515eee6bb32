/**
 * Encodes and decodes the messages of etcd's API version 3 that are used here (etcdserverpb, mvccpb).
 *
 * Unknown fields are skipped. Revisions are numbers: etcd counts them from 1 and never reaches 2^53.
 */
import { Cursor } from '@portolan/kernel/base/protobuf-message.ts';
import { ProtobufWriter } from './protobuf-writer.ts';

export interface KeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly createRevision: number;
  readonly modRevision: number;
  /** The identifier of its lease, 64 bits; 0 for none. */
  readonly lease: bigint;
}

export interface RangeRequest {
  readonly key: Buffer;
  /** The first key after the range. Default: only `key`. */
  readonly end?: Buffer;
  /** Maximum number of keys. Default: all. */
  readonly limit?: number;
  /** The revision to read. Default: the latest. */
  readonly revision?: number;
  readonly keysOnly?: boolean;
}

/** The header of each reply. */
export interface ReplyHeader {
  /** 64 bits; differs after the store was recreated. */
  readonly cluster: bigint;
  /** Of the whole store. */
  readonly revision: number;
}

export interface RangeReply extends ReplyHeader {
  readonly keyValues: readonly KeyValue[];
  /** Whether the range has more keys than the limit. */
  readonly more: boolean;
}

/** Many keys, each decoded from the reply when it is taken, so that a page has no object per key. */
export interface RangePage extends ReplyHeader {
  readonly more: boolean;
  readonly lastKey: Buffer | undefined;
  /** Octets of the whole reply. */
  readonly octets: number;
  /** @throws ProtobufError if a key is malformed */
  keyValues(): Iterable<KeyValue>;
}

export type Operation =
  | { readonly kind: 'put'; readonly key: Buffer; readonly value: Buffer; readonly lease?: bigint }
  | { readonly kind: 'delete'; readonly key: Buffer; readonly end?: Buffer };

/** A condition of a transaction. */
export interface Condition {
  readonly key: Buffer;
  /** The revision that created the key (0: the key must not exist), or the one that changed it last. */
  readonly target: 'create-revision' | 'mod-revision';
  readonly revision: number;
}

export interface Transaction {
  /** All of them must hold. */
  readonly conditions: readonly Condition[];
  readonly operations: readonly Operation[];
}

export interface TransactionReply extends ReplyHeader {
  /** Whether all conditions held and the operations were executed. */
  readonly succeeded: boolean;
}

export interface WatchRequest {
  readonly key: Buffer;
  readonly end?: Buffer;
  /** The first revision whose changes are reported. */
  readonly revision: number;
}

export interface KeyEvent {
  readonly kind: 'put' | 'delete';
  /** A deleted key has no value and no lease. */
  readonly keyValue: KeyValue;
}

export interface WatchReply extends ReplyHeader {
  readonly created: boolean;
  readonly canceled: boolean;
  /** The first revision still kept, if the watch was canceled because its start revision was compacted; otherwise 0. */
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** Whether the next reply continues the events of this one. */
  readonly isFragment: boolean;
  readonly events: readonly KeyEvent[];
}

export interface LeaseReply {
  readonly id: bigint;
  /** Remaining seconds; 0 or less for an expired lease. */
  readonly seconds: number;
  /** Why a lease was not granted. */
  readonly error: string;
}

/** Field of the reply to a range. */
const KEY_VALUE = 2;
const DELIMITED = 2;
const COMPARE_CREATE = 1;
const COMPARE_MOD = 2;
const NO_OCTETS = Buffer.alloc(0);
const NO_HEADER: ReplyHeader = { cluster: 0n, revision: 0 };

/** The end of the range of all keys that begin with `prefix`; for an empty prefix, of all keys. */
export function endOfPrefix(prefix: Buffer): Buffer {
  for (let at = prefix.length - 1; at >= 0; at -= 1) {
    const octet = prefix[at] ?? 0;
    if (octet === 0xff) continue;
    const end = Buffer.from(prefix.subarray(0, at + 1));
    end[at] = octet + 1;
    return end;
  }
  return Buffer.from([0]);
}

export function encodeRange({ key, end, limit, revision, keysOnly }: RangeRequest): Buffer {
  const message = new ProtobufWriter().octets(1, key).octets(2, end).number(3, limit).number(4, revision);
  return message.flag(8, keysOnly).finish();
}

export function encodeTransaction({ conditions, operations }: Transaction): Buffer {
  const message = new ProtobufWriter();
  for (const { key, target, revision } of conditions) {
    const isCreate = target === 'create-revision';
    const compare = new ProtobufWriter().number(2, isCreate ? COMPARE_CREATE : COMPARE_MOD).octets(3, key);
    message.message(1, compare.number(isCreate ? 5 : 6, revision));
  }
  for (const operation of operations) message.message(2, operationMessage(operation));
  return message.finish();
}

function operationMessage(operation: Operation): ProtobufWriter {
  const { key } = operation;
  if (operation.kind === 'delete')
    return new ProtobufWriter().message(3, new ProtobufWriter().octets(1, key).octets(2, operation.end));
  const put = new ProtobufWriter().octets(1, key).octets(2, operation.value).number(3, operation.lease);
  return new ProtobufWriter().message(2, put);
}

export function encodeWatch({ key, end, revision }: WatchRequest): Buffer {
  const create = new ProtobufWriter().octets(1, key).octets(2, end).number(3, revision);
  // Flags: report progress without events, and send large replies in fragments.
  return new ProtobufWriter().message(1, create.flag(4, true).flag(8, true)).finish();
}

/** The messages of leases that have only an identifier. */
export function encodeLeaseId(id: bigint): Buffer {
  return new ProtobufWriter().number(1, id).finish();
}

export function encodeLeaseGrant(seconds: number): Buffer {
  return new ProtobufWriter().number(1, seconds).finish();
}

export function encodeAuthenticate(username: string, password: string): Buffer {
  return new ProtobufWriter().octets(1, username).octets(2, password).finish();
}

/** @throws ProtobufError */
export function decodeRange(octets: Buffer): RangeReply {
  const { cluster, revision, more, keyValues } = decodePage(octets);
  return { cluster, revision, more, keyValues: [...keyValues()] };
}

/** @throws ProtobufError */
export function decodePage(octets: Buffer): RangePage {
  const page = { ...NO_HEADER, more: false };
  const last = { start: 0, end: 0 };
  readFields(octets, (field, cursor) => {
    if (field === 1) Object.assign(page, readHeader(readDelimited(cursor)));
    else if (field === KEY_VALUE) {
      last.end = cursor.readLength();
      last.start = cursor.position;
      cursor.position = last.end;
    } else if (field === 3) page.more = cursor.readNumber() !== 0;
    else return false;
    return true;
  });
  const lastKey = last.end === 0 ? undefined : readKeyValue(octets, last.start, last.end).key;
  return { ...page, lastKey, octets: octets.length, keyValues: () => readKeyValues(octets) };
}

function* readKeyValues(octets: Buffer): Iterable<KeyValue> {
  const cursor = new Cursor(octets);
  while (cursor.position < cursor.end) {
    const tag = cursor.readNumber();
    if (tag !== KEY_VALUE * 8 + DELIMITED) {
      cursor.skip(tag % 8);
      continue;
    }
    const end = cursor.readLength();
    yield readKeyValue(octets, cursor.position, end);
    cursor.position = end;
  }
}

/** @throws ProtobufError */
export function decodeTransaction(octets: Buffer): TransactionReply {
  const reply = { ...NO_HEADER, succeeded: false };
  readFields(octets, (field, cursor) => {
    if (field === 1) Object.assign(reply, readHeader(readDelimited(cursor)));
    else if (field === 2) reply.succeeded = cursor.readNumber() !== 0;
    else return false;
    return true;
  });
  return reply;
}

/** @throws ProtobufError */
export function decodeWatch(octets: Buffer): WatchReply {
  const reply = {
    ...NO_HEADER,
    created: false,
    canceled: false,
    compactRevision: 0,
    cancelReason: '',
    isFragment: false,
    events: [] as KeyEvent[],
  };
  readFields(octets, (field, cursor) => {
    if (field === 1) Object.assign(reply, readHeader(readDelimited(cursor)));
    else if (field === 3) reply.created = cursor.readNumber() !== 0;
    else if (field === 4) reply.canceled = cursor.readNumber() !== 0;
    else if (field === 5) reply.compactRevision = cursor.readNumber();
    else if (field === 6) reply.cancelReason = readDelimited(cursor).toString('utf8');
    else if (field === 7) reply.isFragment = cursor.readNumber() !== 0;
    else if (field === 11) reply.events.push(readEvent(readDelimited(cursor)));
    else return false;
    return true;
  });
  return reply;
}

/** The replies to grants, renewals and queries of the remaining time: their fields have the same numbers. @throws ProtobufError */
export function decodeLease(octets: Buffer): LeaseReply {
  const reply = { id: 0n, seconds: 0, error: '' };
  readFields(octets, (field, cursor, wireType) => {
    if (field === 2) reply.id = readIdentifier(cursor);
    else if (field === 3) reply.seconds = Number(BigInt.asIntN(64, readIdentifier(cursor)));
    else if (field === 4 && wireType === 2) reply.error = readDelimited(cursor).toString('utf8');
    else return false;
    return true;
  });
  return reply;
}

/** @returns the token. @throws ProtobufError */
export function decodeAuthenticate(octets: Buffer): string {
  let token = '';
  readFields(octets, (field, cursor) => {
    if (field !== 2) return false;
    token = readDelimited(cursor).toString('utf8');
    return true;
  });
  return token;
}

type Mutable<Value> = { -readonly [Field in keyof Value]: Value[Field] };

type ReadField = (field: number, cursor: Cursor, wireType: number) => boolean;

/** @param read returns whether it has read the field */
function readFields(octets: Buffer, read: ReadField, start = 0, end = octets.length): void {
  const cursor = new Cursor(octets, start, end);
  while (cursor.position < cursor.end) {
    const tag = cursor.readNumber();
    const wireType = tag % 8;
    if (!read((tag - wireType) / 8, cursor, wireType)) cursor.skip(wireType);
  }
}

function readDelimited(cursor: Cursor): Buffer {
  const end = cursor.readLength();
  const octets = cursor.octets.subarray(cursor.position, end);
  cursor.position = end;
  return octets;
}

function readHeader(octets: Buffer): ReplyHeader {
  const header = { ...NO_HEADER };
  readFields(octets, (field, cursor) => {
    if (field === 1) header.cluster = readIdentifier(cursor);
    else if (field === 3) header.revision = cursor.readNumber();
    else return false;
    return true;
  });
  return header;
}

function readEvent(octets: Buffer): KeyEvent {
  const event = { isDelete: false, keyValue: undefined as KeyValue | undefined };
  readFields(octets, (field, cursor) => {
    if (field === 1) event.isDelete = cursor.readNumber() !== 0;
    else if (field === 2) event.keyValue = readKeyValue(readDelimited(cursor));
    else return false;
    return true;
  });
  return { kind: event.isDelete ? 'delete' : 'put', keyValue: event.keyValue ?? readKeyValue(NO_OCTETS) };
}

function readKeyValue(octets: Buffer, start = 0, end = octets.length): KeyValue {
  const read: Mutable<KeyValue> = {
    key: NO_OCTETS,
    value: NO_OCTETS,
    createRevision: 0,
    modRevision: 0,
    lease: 0n,
  };
  const readField: ReadField = (field, cursor) => {
    if (field === 1) read.key = readDelimited(cursor);
    else if (field === 2) read.createRevision = cursor.readNumber();
    else if (field === 3) read.modRevision = cursor.readNumber();
    else if (field === 5) read.value = readDelimited(cursor);
    else if (field === 6) read.lease = readIdentifier(cursor);
    else return false;
    return true;
  };
  readFields(octets, readField, start, end);
  return read;
}

/** A 64-bit number, which a double would round. */
function readIdentifier(cursor: Cursor): bigint {
  const first = cursor.position;
  cursor.skip(0);
  let value = 0n;
  for (let at = cursor.position - 1; at >= first; at -= 1)
    value = (value << 7n) | BigInt((cursor.octets[at] ?? 0) & 127);
  return value;
}
