/**
 * Writes the most common bodies of a cluster directly as octets: addresses, and records that name a target.
 *
 * The general way uses the message writer, which searches for names to compress; here their places are known. A cluster
 * of ten thousand services has several hundred thousand bodies.
 */
import { parseAddress, readIpv4 } from '@portolan/dns/address.ts';
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { writeName } from '@portolan/dns/name-wire.ts';
import { OPT_OCTETS } from '@portolan/dns/query-records.ts';
import { MAX_MESSAGE_OCTETS } from '@portolan/dns/response-size.ts';
import {
  type AbsoluteName,
  CLASS,
  type NameKey,
  RCODE,
  type RecordData,
  TYPE,
  type WireName,
} from '@portolan/dns/types.ts';
import type { AnswerBody, Rotation } from '../table/types.ts';
import type { NamedSet, RecordSet } from './record-set.ts';

/** The largest message, less its header and the OPT record that a client may need. */
export const MAX_OCTETS = MAX_MESSAGE_OCTETS - HEADER_OCTETS - OPT_OCTETS;
/** Octets of a question after its name. */
const QUESTION_OCTETS = 4;
/** Octets of a record before its data when its owner is a pointer: pointer, type, class, TTL, length. */
const FIXED_OCTETS = 12;
/** Octets of SRV data before the target (RFC 2782). */
const SERVICE_OCTETS = 6;
/** A pointer holds 14 bits (RFC 1035 section 4.1.4). */
const FARTHEST_POINTER = 0x3fff;

/** More than any body within a message needs. */
const LARGEST = 65_536;
let octets = new Uint8Array(4 * LARGEST);
/** Where the next body begins. */
let next = 0;

/**
 * Starts the bodies of another node; they overwrite the previous ones. Separate memory for each body would cost more
 * than writing it.
 */
export function reuseMemory(): void {
  next = 0;
}

function beginBody(length = LARGEST): number {
  if (next + length <= octets.length) return next;
  // Earlier bodies keep the old memory.
  octets = new Uint8Array(Math.max(4 * LARGEST, length));
  next = 0;
  return next;
}

/**
 * An address set may exceed a message: readers cut it at a random place each time, so that clients see every address.
 * Section counts have 16 bits.
 */
export function writeAddresses(set: RecordSet): AnswerBody {
  const { start, count, stride } = beginAddresses(set.type, set.data.length);
  let at = start;
  for (let index = 0; index < count; index += 1) at = writeAddress(at, HEADER_OCTETS, set, set.data[index]);
  return finish(start, at, count, 0, count > 1 ? { start: 0, stride, count } : undefined);
}

function beginAddresses(type: number, all: number) {
  const stride = FIXED_OCTETS + (type === TYPE.A ? 4 : 16);
  const count = Math.min(all, 0xffff);
  return { start: beginBody(count * stride), count, stride };
}

/** The maximum octets of records after a question for this name. */
export const maxOctetsBehind = (name: WireName): number => MAX_OCTETS - name.length - QUESTION_OCTETS;

/** Whether `writeTargets` supports the set: one PTR, or SRV records with the addresses of their targets. */
export function isPlainTargets(set: RecordSet): boolean {
  return set.type === TYPE.SRV || (set.type === TYPE.PTR && set.data.length === 1);
}

/**
 * Writes PTR or SRV data with uncompressed targets, and then the addresses of the targets.
 *
 * @param name the owner's
 * @returns undefined if the targets are beyond the reach of pointers: use the general way
 */
export function writeTargets(owner: NameKey, name: WireName, set: RecordSet): AnswerBody | undefined {
  if (set.additional === 'elsewhere') return undefined;
  const start = beginBody();
  /** The difference between offsets in the message and in the memory. */
  const shift = HEADER_OCTETS + name.length + QUESTION_OCTETS - start;
  /** The offsets of targets (except the owner) that may have addresses. */
  let places: Map<AbsoluteName, number> | undefined;
  let at = start;
  for (const data of set.data) {
    if (data.kind !== 'SRV' && data.kind !== 'PTR') return undefined;
    const content = writeFixed(at, HEADER_OCTETS, set.type, set.ttl, 0);
    at = writeService(content, data);
    if (shift + at > FARTHEST_POINTER) return undefined;
    if (data.target !== owner && set.additional.length > 0) {
      places ??= new Map();
      places.set(data.target, shift + at);
    }
    at = writeName(data.target, octets, at);
    writeUint16(content - 2, at - content);
  }
  let additionalCount = 0;
  for (const { name: target, set: addresses } of set.additional) {
    const place = target === owner ? HEADER_OCTETS : places?.get(target);
    if (place === undefined || !isAddresses(addresses)) return undefined;
    for (const data of addresses.data) {
      if (at - start + FIXED_OCTETS + 16 > maxOctetsBehind(name)) return undefined;
      at = writeAddress(at, place, addresses, data);
      additionalCount += 1;
    }
  }
  return finish(start, at, set.data.length, additionalCount, undefined);
}

const isAddresses = ({ type }: NamedSet['set']): boolean => type === TYPE.A || type === TYPE.AAAA;

/** @returns the offset of the target */
function writeService(at: number, data: RecordData): number {
  if (data.kind !== 'SRV') return at;
  writeUint16(at, data.priority);
  writeUint16(at + 2, data.weight);
  writeUint16(at + 4, data.port);
  return at + SERVICE_OCTETS;
}

const NO_OCTETS = new Uint8Array(0);

function writeAddress(at: number, owner: number, set: RecordSet, data: RecordData | undefined): number {
  // Without allocating octets: large services have thousands of addresses.
  const ipv4 = data?.kind === 'A' ? readIpv4(data.address) : -1;
  if (ipv4 >= 0) {
    const place = writeFixed(at, owner, set.type, set.ttl, 4);
    writeUint16(place, ipv4 >>> 16);
    writeUint16(place + 2, ipv4);
    return place + 4;
  }
  const isAddress = data?.kind === 'A' || data?.kind === 'AAAA';
  const address = (isAddress ? parseAddress(data.address) : undefined) ?? NO_OCTETS;
  const start = writeFixed(at, owner, set.type, set.ttl, address.length);
  octets.set(address, start);
  return start + address.length;
}

/** Writes the fields before a record's data. @param owner the offset of its name in the message */
function writeFixed(at: number, owner: number, type: number, ttl: number, length: number): number {
  writeUint16(at, 0xc000 | owner);
  writeUint16(at + 2, type);
  writeUint16(at + 4, CLASS.IN);
  writeUint16(at + 6, ttl >>> 16);
  writeUint16(at + 8, ttl);
  writeUint16(at + 10, length);
  return at + FIXED_OCTETS;
}

function writeUint16(at: number, value: number): void {
  octets[at] = value >>> 8;
  octets[at + 1] = value;
}

function finish(
  start: number,
  end: number,
  answerCount: number,
  additionalCount: number,
  rotation: Rotation | undefined,
): AnswerBody {
  next = end;
  return {
    rcode: RCODE.NOERROR,
    authoritative: true,
    answerCount,
    authorityCount: 0,
    additionalCount,
    bytes: octets.subarray(start, end),
    rotation,
  };
}
