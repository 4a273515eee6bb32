/**
 * Messages of nftables (`linux/netfilter/nf_tables.h`) for sets and their elements. Numbers in attributes have the highest octet first.
 *
 *     body    0 family  1 version  2 resource (2)  4 attributes
 */
import {
  encodeAttribute,
  encodeNest,
  encodeNetlinkMessage,
  encodeTextAttribute,
  type NetlinkMessage,
  NLM_F_CREATE,
  NLM_F_EXCL,
  NLM_F_REQUEST,
  NLMSG_ERROR,
  parseAttributes,
  readNetlinkError,
} from '@portolan/kernel/socket/netlink-message.ts';
import type { NftFamily, NftSet } from './options.ts';

const SUBSYSTEM = 10;
const BATCH_BEGIN = 0x10;
const BATCH_END = 0x11;
const MESSAGE = {
  newSet: 9,
  getSet: 10,
  newElements: 12,
  getElements: 13,
  deleteElements: 14,
  newGeneration: 15,
  getGeneration: 16,
};
const FAMILIES: Readonly<Record<NftFamily, number>> = {
  inet: 1,
  ip: 2,
  arp: 3,
  netdev: 5,
  bridge: 7,
  ip6: 10,
};

/** Attributes by what they belong to. */
const SET = { table: 1, name: 2, flags: 3, keyType: 4, timeout: 11 };
const LIST = { table: 1, set: 2, elements: 3 };
const LIST_ITEM = 1;
const ELEMENT = { key: 1, flags: 3, timeout: 4, expiration: 5 };
const DATA_VALUE = 1;
const GENERATION_ID = 1;
const INTERVAL_END = 1;

const SET_FLAG = { constant: 2, interval: 4, map: 8, timeout: 0x10, concatenation: 0x80 };
/** nft's numbers of the types of keys. */
const KEY_TYPES: ReadonlyMap<number, 'ipv4' | 'ipv6'> = new Map([
  [7, 'ipv4'],
  [8, 'ipv6'],
]);

/** What a set takes. */
export type NftSetKind =
  | {
      readonly kind: 'addresses';
      readonly family: 'ipv4' | 'ipv6';
      readonly isInterval: boolean;
      readonly hasTimeout: boolean;
      /** The set's own, for elements without one: milliseconds; 0: none. */
      readonly timeout: number;
    }
  /** Its elements are not single addresses, or cannot change. */
  | { readonly kind: 'other' };

export interface ElementChange {
  readonly set: NftSet;
  readonly isInterval: boolean;
  /** 4 or 16 octets. */
  readonly address: Uint8Array;
  /** Milliseconds; undefined: it stays. */
  readonly timeout: number | undefined;
  /** `add` fails if the set has the address. `renew` starts its time again; packets do not see that it is deleted and added. */
  readonly way: 'add' | 'renew';
}

export function encodeGetGeneration(sequence: number): Uint8Array {
  return encodeRequest(MESSAGE.getGeneration, sequence, 0, 0, []);
}

export function encodeGetSet({ family, table, name }: NftSet, sequence: number): Uint8Array {
  const attributes = [encodeTextAttribute(SET.table, table), encodeTextAttribute(SET.name, name)];
  return encodeRequest(MESSAGE.getSet, sequence, FAMILIES[family], 0, attributes);
}

/** Asks for the element that holds an address. */
export function encodeGetElement(set: NftSet, address: Uint8Array, sequence: number): Uint8Array {
  return encodeElements(set, [encodeNest(LIST_ITEM, encodeKey(address))], MESSAGE.getElements, 0, sequence);
}

/**
 * A transaction: all changes, or none of them.
 *
 * @param sequence of the frame; that of the first change is the next one, and so on
 */
export function encodeChanges(changes: readonly ElementChange[], sequence: number): Uint8Array {
  return Buffer.concat([
    encodeFrame(BATCH_BEGIN, sequence),
    ...changes.flatMap((change, index) => encodeChange(change, sequence + 1 + index)),
    encodeFrame(BATCH_END, sequence),
  ]);
}

function encodeFrame(type: number, sequence: number): Uint8Array {
  const body = Uint8Array.of(0, 0, 0, SUBSYSTEM);
  return encodeNetlinkMessage({ type, flags: NLM_F_REQUEST, sequence, body });
}

function encodeChange(
  { set, isInterval, address, timeout, way }: ElementChange,
  sequence: number,
): readonly Uint8Array[] {
  const time =
    timeout === undefined ? [] : [encodeAttribute(ELEMENT.timeout, encodeNumber(BigInt(timeout), 8))];
  const items = [encodeNest(LIST_ITEM, ...time, encodeKey(address))];
  const end = isInterval ? findNext(address) : undefined;
  if (end !== undefined) {
    const flags = encodeAttribute(ELEMENT.flags, encodeNumber(INTERVAL_END, 4));
    // As nft numbers them.
    items.push(encodeNest(LIST_ITEM + 1, flags, encodeKey(end)));
  }
  const add = (flags: number) =>
    encodeElements(set, items, MESSAGE.newElements, NLM_F_CREATE | flags, sequence);
  if (way === 'add') return [add(NLM_F_EXCL)];
  // It may have gone meanwhile, and then there would be nothing to delete.
  return [add(0), encodeElements(set, items, MESSAGE.deleteElements, 0, sequence), add(0)];
}

function encodeElements(
  { family, table, name }: NftSet,
  items: readonly Uint8Array[],
  message: number,
  flags: number,
  sequence: number,
): Uint8Array {
  return encodeRequest(message, sequence, FAMILIES[family], flags, [
    encodeTextAttribute(LIST.table, table),
    encodeTextAttribute(LIST.set, name),
    encodeNest(LIST.elements, ...items),
  ]);
}

function encodeKey(octets: Uint8Array): Uint8Array {
  return encodeNest(ELEMENT.key, encodeAttribute(DATA_VALUE, octets));
}

/** The address behind an interval of one; undefined: it is the last one. */
function findNext(address: Uint8Array): Uint8Array | undefined {
  const next = Uint8Array.from(address);
  for (let at = next.length - 1; at >= 0; at -= 1) {
    const octet = ((next[at] ?? 0) + 1) & 0xff;
    next[at] = octet;
    if (octet !== 0) return next;
  }
  return undefined;
}

function encodeRequest(
  message: number,
  sequence: number,
  family: number,
  flags: number,
  attributes: readonly Uint8Array[],
): Uint8Array {
  return encodeNetlinkMessage({
    type: (SUBSYSTEM << 8) | message,
    flags: NLM_F_REQUEST | flags,
    sequence,
    body: Buffer.concat([Uint8Array.of(family, 0, 0, 0), ...attributes]),
  });
}

/** The errors of a request by its sequence numbers. */
export function listErrors(messages: readonly NetlinkMessage[]): ReadonlyMap<number, number> {
  const errors = new Map<number, number>();
  for (const message of messages) {
    const errno = message.type === NLMSG_ERROR ? readNetlinkError(message) : 0;
    // The first one of a change is its reason, and the next ones may follow from it.
    if (errno !== 0 && !errors.has(message.sequence)) errors.set(message.sequence, errno);
  }
  return errors;
}

/** Undefined: the messages do not say it. */
export function findGeneration(messages: readonly NetlinkMessage[]): number | undefined {
  const value = findAttributes(messages, MESSAGE.newGeneration)?.get(GENERATION_ID);
  return value === undefined ? undefined : Number(readNumber(value));
}

/** Undefined: the messages do not describe it. */
export function findSetKind(messages: readonly NetlinkMessage[]): NftSetKind | undefined {
  const attributes = findAttributes(messages, MESSAGE.newSet);
  if (attributes === undefined) return undefined;
  const number = (type: number) => Number(readNumber(attributes.get(type) ?? new Uint8Array()));
  const flags = number(SET.flags);
  const family = KEY_TYPES.get(number(SET.keyType));
  const isOther = (flags & (SET_FLAG.constant | SET_FLAG.map | SET_FLAG.concatenation)) !== 0;
  if (family === undefined || isOther) return { kind: 'other' };
  return {
    kind: 'addresses',
    family,
    isInterval: (flags & SET_FLAG.interval) !== 0,
    hasTimeout: (flags & SET_FLAG.timeout) !== 0,
    timeout: number(SET.timeout),
  };
}

/** Milliseconds that an element still has; `Infinity`: it stays. Undefined: the messages have no element. */
export function findRemainingTime(messages: readonly NetlinkMessage[]): number | undefined {
  const list = findAttributes(messages, MESSAGE.newElements)?.get(LIST.elements);
  const item = list && parseAttributes(list).get(LIST_ITEM);
  if (item === undefined) return undefined;
  const time = parseAttributes(item).get(ELEMENT.expiration);
  return time === undefined ? Number.POSITIVE_INFINITY : Number(readNumber(time));
}

function findAttributes(
  messages: readonly NetlinkMessage[],
  wanted: number,
): ReadonlyMap<number, Uint8Array> | undefined {
  const found = messages.find(({ type }) => type === ((SUBSYSTEM << 8) | wanted));
  return found && parseAttributes(found.body.subarray(4));
}

function readNumber(octets: Uint8Array): bigint {
  return octets.reduce((number, octet) => number * 256n + BigInt(octet), 0n);
}

function encodeNumber(value: bigint | number, octets: 4 | 8): Uint8Array {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(value));
  return new Uint8Array(view.buffer, 8 - octets);
}
