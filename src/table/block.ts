/**
 * Name nodes, cached answers and zone terms as blocks of the table's memory (see layout.ts).
 *
 * Blocks are first written into a buffer of the writer's own, so that an unchanged node is known before anything moves.
 */
import {
  BELOW_ASK_ANY,
  BELOW_COMPLETE,
  BODY,
  BODY_AUTHORITATIVE,
  CACHED,
  CACHED_FLAG,
  KIND,
  NODE,
  padded,
  TERMS,
  TERMS_FLAG,
} from './layout.ts';
import type { AnswerBody, Below, CachedAnswer, NameNode, ZoneTerms } from './types.ts';

/** A growing buffer in which one block at a time is made. */
export class BlockBuffer {
  octets = new Uint8Array(4096);
  words = new Uint32Array(this.octets.buffer);
  length = 0;

  /** Begins a block of exactly this many octets, all zero. */
  begin(length: number): void {
    if (length > this.octets.length) {
      this.octets = new Uint8Array(2 ** Math.ceil(Math.log2(length)));
      this.words = new Uint32Array(this.octets.buffer);
    }
    this.octets.fill(0, 0, padded(length));
    this.length = padded(length);
  }
}

const bodyLength = (body: AnswerBody): number => padded(BODY.RECORDS + body.bytes.length);

/** Writes a body at `start` and returns where the next one may begin. */
function writeBody(buffer: BlockBuffer, start: number, body: AnswerBody): number {
  const { words, octets } = buffer;
  const word = start >> 2;
  const { rotation } = body;
  words[word] = body.rcode | (body.authoritative ? BODY_AUTHORITATIVE : 0);
  words[word + 1] = body.answerCount | (body.authorityCount << 16);
  words[word + 2] = body.additionalCount | ((rotation?.stride ?? 0) << 16);
  words[word + 3] = (rotation?.start ?? 0) | ((rotation?.count ?? 0) << 16);
  words[word + 4] = body.bytes.length;
  octets.set(body.bytes, start + BODY.RECORDS);
  return start + bodyLength(body);
}

function encodeBelow(below: Below): number {
  if (below.kind === 'complete') return BELOW_COMPLETE;
  return below.labels === 0 ? BELOW_ASK_ANY : Math.min(below.labels, BELOW_ASK_ANY - 1);
}

/** @param hash the finished hash of the node's name */
export function encodeNode(buffer: BlockBuffer, node: NameNode, hash: number): void {
  const nameStart = NODE.TYPES + node.answers.size * 8;
  let bodyStart = nameStart + padded(node.name.length);
  let total = bodyStart;
  for (const body of node.answers.values()) total += bodyLength(body);
  buffer.begin(total);
  const { words, octets } = buffer;
  words[NODE.HASH >> 2] = hash;
  words[NODE.SHAPE >> 2] =
    node.name.length |
    (KIND.NODE << 8) |
    (encodeBelow(node.below) << 16) |
    ((node.otherTypes === 'ask' ? 1 : 0) << 24);
  words[NODE.ZONE >> 2] = node.zone | (node.metricsId << 8) | (node.answers.size << 16);
  words[NODE.SIZE >> 2] = buffer.length;
  octets.set(node.name, nameStart);
  let entry = NODE.TYPES >> 2;
  for (const [type, body] of node.answers) {
    words[entry] = type;
    words[entry + 1] = bodyStart;
    entry += 2;
    bodyStart = writeBody(buffer, bodyStart, body);
  }
}

export function cachedFlags(dnssecOk: boolean, checkingDisabled: boolean): number {
  return (dnssecOk ? CACHED_FLAG.DNSSEC_OK : 0) | (checkingDisabled ? CACHED_FLAG.CHECKING_DISABLED : 0);
}

/** @param hash the finished hash of the question; @param now seconds since the epoch */
export function encodeCached(buffer: BlockBuffer, answer: CachedAnswer, hash: number, now: number): void {
  const offsetsStart = CACHED.NAME + padded(answer.name.length);
  const bodyStart = offsetsStart + padded(answer.ttlOffsets.length * 2);
  buffer.begin(bodyStart + bodyLength(answer.body));
  const { words, octets } = buffer;
  const flags =
    cachedFlags(answer.dnssecOk, answer.checkingDisabled) |
    (answer.recursionAvailable ? CACHED_FLAG.RECURSION_AVAILABLE : 0);
  words[CACHED.HASH >> 2] = hash;
  words[CACHED.SHAPE >> 2] = answer.name.length | (KIND.CACHED << 8);
  words[CACHED.QUESTION >> 2] = answer.type | (answer.class << 16);
  words[CACHED.SIZE >> 2] = buffer.length;
  words[CACHED.STORED >> 2] = now;
  words[CACHED.EXPIRES >> 2] = now + answer.lifetime;
  words[CACHED.FLAGS >> 2] = flags | (answer.metricsId << 8) | (answer.ttlOffsets.length << 16);
  words[CACHED.BODY >> 2] = bodyStart;
  words[CACHED.FRESH_UNTIL >> 2] = answer.freshUntil ?? now + answer.lifetime;
  octets.set(answer.name, CACHED.NAME);
  new Uint16Array(octets.buffer, offsetsStart, answer.ttlOffsets.length).set(answer.ttlOffsets);
  writeBody(buffer, bodyStart, answer.body);
}

/** Where the given name of record data ends in the apex: the labels before it, or undefined when it does not. */
function labelsBefore(name: Uint8Array, apex: Uint8Array): Uint8Array | undefined {
  for (let at = 0; at + apex.length <= name.length; at += (name[at] ?? 0) + 1) {
    if (at + apex.length < name.length) continue;
    return apex.every((octet, index) => name[at + index] === octet) ? name.subarray(0, at) : undefined;
  }
  return undefined;
}

function nameEnd(octets: Uint8Array, start: number): number {
  let at = start;
  while ((octets[at] ?? 0) !== 0) at += (octets[at] ?? 0) + 1;
  return at + 1;
}

/** The SOA record of a zone's negative answers, with gaps where pointers to the apex are to be filled in. */
function compressSoa(terms: ZoneTerms): {
  readonly record: Uint8Array;
  readonly pointers: readonly number[];
} {
  const { soaData, apex, negativeTtl } = terms;
  const mailboxStart = nameEnd(soaData, 0);
  const numbersStart = nameEnd(soaData, mailboxStart);
  const record: number[] = [0xc0, 0, 0, 6, 0, 1];
  record.push(...new Uint8Array(new Uint32Array([negativeTtl]).buffer).reverse(), 0, 0);
  const pointers = [0];
  const dataStart = record.length;
  for (const name of [soaData.subarray(0, mailboxStart), soaData.subarray(mailboxStart, numbersStart)]) {
    const before = labelsBefore(name, apex);
    record.push(...(before ?? name));
    if (before === undefined) continue;
    pointers.push(record.length);
    record.push(0xc0, 0);
  }
  record.push(...soaData.subarray(numbersStart));
  record[dataStart - 1] = (record.length - dataStart) & 0xff;
  record[dataStart - 2] = (record.length - dataStart) >> 8;
  return { record: Uint8Array.from(record), pointers };
}

export function encodeTerms(buffer: BlockBuffer, terms: ZoneTerms): void {
  const { record, pointers } = compressSoa(terms);
  const recordStart = TERMS.POINTERS + padded(pointers.length * 2);
  buffer.begin(recordStart + record.length);
  const { words, octets } = buffer;
  words[TERMS.FLAGS >> 2] =
    (terms.known ? TERMS_FLAG.KNOWN : 0) |
    (terms.authoritativeNxdomain ? TERMS_FLAG.AUTHORITATIVE_NXDOMAIN : 0) |
    (terms.recursionAvailable ? TERMS_FLAG.RECURSION_AVAILABLE : 0) |
    (terms.askWildcards ? TERMS_FLAG.ASK_WILDCARDS : 0) |
    (terms.cachesOpenTypes === true ? TERMS_FLAG.CACHES_OPEN_TYPES : 0);
  words[TERMS.LENGTHS >> 2] = terms.apex.length | (record.length << 16);
  words[TERMS.RECORD >> 2] = recordStart | (pointers.length << 16);
  words[TERMS.SIZE >> 2] = buffer.length;
  new Uint16Array(octets.buffer, TERMS.POINTERS, pointers.length).set(pointers);
  octets.set(record, recordStart);
}
