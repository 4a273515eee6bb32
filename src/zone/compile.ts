/**
 * Zone nodes as finished answers: what a reader copies behind the question.
 *
 * Names are compressed against a question for the owner itself, at octet 12 of the message. Sets of addresses, most of
 * what there is, are written directly; all others by the message writer, whose header and question are left away.
 */
import type { AnswerBody, NameNode, ZoneId } from '../table/types.ts';
import { parseAddress } from '../wire/address.ts';
import { MessageWriter } from '../wire/message-writer.ts';
import { encodeName } from '../wire/name.ts';
import { CLASS, type NameKey, RCODE, type RecordData, TYPE, type WireName } from '../wire/types.ts';
import { isWhole, type ZoneNode } from './node.ts';
import type { RecordSet } from './record-set.ts';

/** The largest message, without its header and the OPT record that a client may be owed. */
const MOST_OCTETS = 65_535 - 12 - 11;
/** Octets of a record before its data when its owner is a pointer: pointer, type, class, TTL, length. */
const FIXED_OCTETS = 12;

const writer = new MessageWriter();

/**
 * Compiles a node. Sets whose additional records stand elsewhere are left out: they are asked of the handler chain.
 *
 * What exceeds the largest message is left out too, from the end.
 */
export function compileNode(node: ZoneNode, zone: ZoneId): NameNode {
  const name = encodeName(node.name);
  const answers = new Map<number, AnswerBody>();
  for (const set of node.sets) {
    if (set.additional === 'elsewhere') continue;
    answers.set(set.type, compileSet(node.name, name, set));
  }
  return {
    name,
    zone,
    below: node.below,
    otherTypes: isWhole(node) ? 'nodata' : 'ask',
    metricsId: node.metricsId,
    answers,
  };
}

function compileSet(owner: NameKey, name: WireName, set: RecordSet): AnswerBody {
  const isAddresses = set.type === TYPE.A || set.type === TYPE.AAAA;
  return isAddresses ? compileAddresses(name, set) : compileRecords(owner, set);
}

function compileAddresses(name: WireName, set: RecordSet): AnswerBody {
  const length = set.type === TYPE.A ? 4 : 16;
  const stride = FIXED_OCTETS + length;
  const count = Math.min(set.data.length, Math.floor((MOST_OCTETS - name.length - 4) / stride));
  const bytes = new Uint8Array(count * stride);
  for (let index = 0, at = 0; index < count; index += 1, at += stride) {
    // A pointer to the question's name.
    bytes[at] = 0xc0;
    bytes[at + 1] = 12;
    bytes[at + 3] = set.type;
    bytes[at + 5] = CLASS.IN;
    writeUint32(bytes, at + 6, set.ttl);
    bytes[at + 11] = length;
    bytes.set(octetsOf(set.data[index]), at + FIXED_OCTETS);
  }
  return {
    rcode: RCODE.NOERROR,
    authoritative: true,
    answerCount: count,
    authorityCount: 0,
    additionalCount: 0,
    bytes,
    rotation: count > 1 ? { start: 0, stride, count } : undefined,
  };
}

function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

const NO_OCTETS = new Uint8Array(0);

function octetsOf(data: RecordData | undefined): Uint8Array {
  if (data?.kind !== 'A' && data?.kind !== 'AAAA') return NO_OCTETS;
  return parseAddress(data.address) ?? NO_OCTETS;
}

function compileRecords(owner: NameKey, set: RecordSet): AnswerBody {
  writer.start(MOST_OCTETS + 12);
  writer.question({ name: owner, type: set.type, class: CLASS.IN });
  const start = writer.length;
  const record = { name: owner, class: CLASS.IN, ttl: set.ttl };
  let answerCount = 0;
  for (const data of set.data) {
    if (!writer.record('answers', { ...record, data })) break;
    answerCount += 1;
  }
  const additionalCount = answerCount === set.data.length ? writeAdditionals(set) : 0;
  return {
    rcode: RCODE.NOERROR,
    authoritative: true,
    answerCount,
    authorityCount: 0,
    additionalCount,
    bytes: writer.bytesFrom(start),
    rotation: undefined,
  };
}

function writeAdditionals(set: RecordSet): number {
  let count = 0;
  if (set.additional === 'elsewhere') return count;
  for (const { name, set: addresses } of set.additional) {
    for (const data of addresses.data) {
      if (!writer.record('additionals', { name, class: CLASS.IN, ttl: addresses.ttl, data })) return count;
      count += 1;
    }
  }
  return count;
}
