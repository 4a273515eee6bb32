/**
 * A reply of the plainest kind, left as the octets that came: NOERROR, and addresses of the very name that was asked for.
 *
 * Most replies are such, and nothing in them needs to be taken apart: every record has the same length, its owner is a pointer to
 * the question, and the octets behind the question are what clients and the cache are told. Everything else is decoded.
 *
 * A plain reply is lent: it lies in memory that the next packet is received into. Whoever keeps it uses `keepMessage`.
 */
import { readHeader } from '../../wire/header.ts';
import { decodeMessage } from '../../wire/message.ts';
import { type Edns, type Header, type Message, RCODE, TYPE } from '../../wire/types.ts';
import type { QueryMessage } from './query-message.ts';

const OPT_OCTETS = 11;
/** Owner, type, class, TTL, length of the data. */
const RECORD_OCTETS = 12;
const TTL_AT = 6;
/** A pointer to the question's name (RFC 1035 section 4.1.4). */
const POINTER_TO_QUESTION = 0xc00c;
const MOST_TTL = 0x7fff_ffff;
/** Of the third and fourth octet: TC and the response code. */
const NOT_WHOLE_OR_NOT_WELL = 0x020f;

export class PlainReply implements Message {
  /** The packet, at `start`. */
  octets: Uint8Array = new Uint8Array();
  start = 0;
  /** Its records, from the first octet behind the question: how many, and the octets of each. */
  recordsAt = 0;
  count = 0;
  stride = 0;
  /** Seconds, the least of all records. */
  leastTtl = 0;
  #length = 0;
  #optAt = 0;

  /**
   * Takes a packet in that repeats the question of a query.
   *
   * @returns whether it is of the plain kind
   */
  take(packet: Uint8Array, start: number, length: number, { octets, questionEnd }: QueryMessage): boolean {
    if ((uint16(packet, start + 2) & NOT_WHOLE_OR_NOT_WELL) !== RCODE.NOERROR) return false;
    const type = uint16(octets, questionEnd - 4);
    const dataOctets = type === TYPE.A ? 4 : type === TYPE.AAAA ? 16 : 0;
    const count = uint16(packet, start + 6);
    if (dataOctets === 0 || count === 0 || uint16(packet, start + 8) !== 0) return false;
    const recordsAt = start + questionEnd;
    const stride = RECORD_OCTETS + dataOctets;
    const recordsEnd = recordsAt + count * stride;
    const end = start + length;
    if (recordsEnd > end || !this.#takeOpt(packet, recordsEnd, end, uint16(packet, start + 10))) return false;
    let leastTtl = MOST_TTL;
    for (let at = recordsAt; at < recordsEnd; at += stride) {
      if (uint16(packet, at) !== POINTER_TO_QUESTION || uint16(packet, at + 2) !== type) return false;
      if (uint16(packet, at + 4) !== uint16(octets, questionEnd - 2)) return false;
      const ttl = uint32(packet, at + TTL_AT);
      if (ttl > MOST_TTL || uint16(packet, at + TTL_AT + 4) !== dataOctets) return false;
      if (ttl < leastTtl) leastTtl = ttl;
    }
    this.octets = packet;
    this.start = start;
    this.recordsAt = recordsAt;
    this.count = count;
    this.stride = stride;
    this.leastTtl = leastTtl;
    this.#length = length;
    return true;
  }

  /** Behind the records there is nothing, or an OPT record that says nothing. */
  #takeOpt(packet: Uint8Array, at: number, end: number, count: number): boolean {
    this.#optAt = count === 0 ? 0 : at;
    if (count === 0) return at === end;
    // The root, OPT, no extension of the response code, version 0, no options.
    if (count !== 1 || at + OPT_OCTETS !== end) return false;
    const isEmpty = packet[at] === 0 && uint16(packet, at + 1) === TYPE.OPT && uint16(packet, at + 9) === 0;
    return isEmpty && uint16(packet, at + 5) === 0;
  }

  get header(): Header {
    return readHeader(uint16(this.octets, this.start), uint16(this.octets, this.start + 2));
  }

  get edns(): Edns | undefined {
    if (this.#optAt === 0) return undefined;
    const udpSize = uint16(this.octets, this.#optAt + 3);
    const dnssecOk = ((this.octets[this.#optAt + 7] ?? 0) & 0x80) !== 0;
    return { version: 0, udpSize, dnssecOk, extendedRcode: 0, options: [] };
  }

  get questions(): Message['questions'] {
    return this.decode().questions;
  }

  get answers(): Message['answers'] {
    return this.decode().answers;
  }

  get authorities(): Message['authorities'] {
    return [];
  }

  get additionals(): Message['additionals'] {
    return [];
  }

  /** The same, to be kept. */
  decode(): Message {
    return decodeMessage(this.octets.subarray(this.start, this.start + this.#length));
  }
}

/** A message that stays what it is, and can be spread into others. */
export function keepMessage(message: Message): Message {
  return message instanceof PlainReply ? message.decode() : message;
}

function uint16(octets: Uint8Array, at: number): number {
  return ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);
}

function uint32(octets: Uint8Array, at: number): number {
  return ((uint16(octets, at) << 16) | uint16(octets, at + 2)) >>> 0;
}
