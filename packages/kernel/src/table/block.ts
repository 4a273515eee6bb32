/**
 * Name nodes, cached answers and zone settings as blocks of the table's memory (see layout.ts).
 *
 * Blocks are first written into the writer's own buffer, so that an unchanged node is detected before any memory changes.
 */
import { OctetWriter } from '@portolan/dns/octet-writer.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import {
  BELOW_ASK_ANY,
  BELOW_COMPLETE,
  BODY,
  BODY_AUTHENTIC,
  BODY_AUTHORITATIVE,
  BODY_LENGTH_SHIFT,
  BODY_STALE,
  CACHED,
  CACHED_FLAG,
  encodeShape,
  KIND,
  NO_PUBLICATION,
  NODE,
  OTHER_TYPES,
  padded,
  SOURCES,
  STORED_PART,
  ZONE,
  ZONE_FLAG,
} from './layout.ts';
import type {
  AnswerBody,
  AnswerSources,
  Below,
  CachedAnswer,
  CachedQuestion,
  NameNode,
  ZoneSettings,
} from './types.ts';

const WORD_OCTETS = 4;

/** A growing buffer that holds one block at a time. */
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
  words[word] =
    body.rcode |
    (body.authoritative ? BODY_AUTHORITATIVE : 0) |
    (body.authenticData === true ? BODY_AUTHENTIC : 0) |
    (body.isStale === true ? BODY_STALE : 0) |
    (body.bytes.length << BODY_LENGTH_SHIFT);
  words[word + 1] = body.answerCount | (body.authorityCount << 16);
  words[word + 2] = body.additionalCount | ((rotation?.stride ?? 0) << 16);
  words[word + 3] = (rotation?.start ?? 0) | ((rotation?.count ?? 0) << 16);
  octets.set(body.bytes, start + BODY.RECORDS);
  return start + bodyLength(body);
}

function encodeBelow(below: Below): number {
  if (below.kind === 'complete') return BELOW_COMPLETE;
  return below.labels === 0 ? BELOW_ASK_ANY : Math.min(below.labels, BELOW_ASK_ANY - 1);
}

const OTHER_TYPES_CODE = {
  nodata: OTHER_TYPES.NODATA,
  ask: OTHER_TYPES.ASK,
  next: OTHER_TYPES.NEXT,
} as const;

/** @param hash the finished hash of the node's name in its publication */
export function encodeNode(buffer: BlockBuffer, node: NameNode, publication: number, hash: number): void {
  const nameStart = NODE.TYPES + node.answers.size * 8;
  let bodyStart = nameStart + padded(node.name.length);
  let total = bodyStart;
  for (const body of node.answers.values()) total += bodyLength(body);
  buffer.begin(total);
  const { words, octets } = buffer;
  words[NODE.HASH >> 2] = hash;
  words[NODE.SHAPE >> 2] = encodeShape(node.name.length, KIND.NODE, publication);
  words[NODE.MEANING >> 2] =
    encodeBelow(node.below) | (OTHER_TYPES_CODE[node.otherTypes] << 8) | (node.outcome << 16);
  words[NODE.SIZE >> 2] = buffer.length;
  words[NODE.ZONE >> 2] = node.zone | (node.answers.size << 16);
  octets.set(node.name, nameStart);
  let entry = NODE.TYPES >> 2;
  for (const [type, body] of node.answers) {
    words[entry] = type;
    words[entry + 1] = bodyStart;
    entry += 2;
    bodyStart = writeBody(buffer, bodyStart, body);
  }
}

/** Flags that are part of the key of a cached answer. */
export function cachedFlags({
  dnssecOk,
  checkingDisabled,
  beforeCache,
  overIpv6,
}: Pick<CachedQuestion, 'dnssecOk' | 'checkingDisabled' | 'beforeCache' | 'overIpv6'>): number {
  return (
    (dnssecOk ? CACHED_FLAG.DNSSEC_OK : 0) |
    (checkingDisabled ? CACHED_FLAG.CHECKING_DISABLED : 0) |
    (beforeCache === true ? CACHED_FLAG.BEFORE_CACHE : 0) |
    (overIpv6 === true ? CACHED_FLAG.OVER_IPV6 : 0)
  );
}

/** The place of a cached answer, and when it was stored. */
export interface CachedPlace {
  /** The finished hash of the question in its view. */
  readonly hash: number;
  /** The number of the view's cache. */
  readonly cache: number;
  /** Milliseconds of the monotonic clock that all threads share. */
  readonly now: number;
}

export function encodeCached(buffer: BlockBuffer, answer: CachedAnswer, place: CachedPlace): void {
  const offsetsStart = CACHED.NAME + padded(answer.name.length);
  const { passedErrors } = answer;
  const second = Math.floor(place.now / 1000);
  const errorOctets = passedErrors === undefined ? 0 : WORD_OCTETS + passedErrors.length;
  const bodyStart = beginCached(buffer, answer, place, {
    offsets: answer.ttlOffsets.length,
    octets: bodyLength(answer.body) + errorOctets,
  });
  const { words, octets } = buffer;
  words[CACHED.FLAGS >> 2] =
    (words[CACHED.FLAGS >> 2] ?? 0) |
    (answer.recursionAvailable ? CACHED_FLAG.RECURSION_AVAILABLE : 0) |
    (answer.isHeldOnceStale === true ? CACHED_FLAG.HELD_ONCE_STALE : 0) |
    (passedErrors === undefined ? 0 : CACHED_FLAG.PASSED_ERRORS) |
    (Math.floor((place.now / 1000 - second) * STORED_PART.PARTS) << STORED_PART.SHIFT) |
    (answer.ttlOffsets.length << 16);
  words[CACHED.FRESH_UNTIL >> 2] = answer.freshUntil ?? second + answer.lifetime;
  new Uint16Array(octets.buffer, offsetsStart, answer.ttlOffsets.length).set(answer.ttlOffsets);
  const end = writeBody(buffer, bodyStart, answer.body);
  if (passedErrors === undefined) return;
  words[end >> 2] = passedErrors.length;
  octets.set(passedErrors, end + WORD_OCTETS);
}

/**
 * Writes the header that all cached answers share.
 *
 * @param content the number of its TTL offsets, and the octets of its body
 * @returns where the body begins
 */
function beginCached(
  buffer: BlockBuffer,
  answer: CachedQuestion & Pick<CachedAnswer, 'lifetime' | 'outcome' | 'sources'>,
  { hash, cache, now }: CachedPlace,
  content: { readonly offsets: number; readonly octets: number },
): number {
  const { sources } = answer;
  const behindOffsets = CACHED.NAME + padded(answer.name.length) + padded(content.offsets * 2);
  const bodyStart = behindOffsets + (sources === undefined ? 0 : SOURCES.OCTETS);
  buffer.begin(bodyStart + content.octets);
  const { words, octets } = buffer;
  words[CACHED.HASH >> 2] = hash;
  words[CACHED.SHAPE >> 2] = encodeShape(answer.name.length, KIND.CACHED, cache);
  words[CACHED.QUESTION >> 2] = answer.type | (answer.class << 16);
  words[CACHED.SIZE >> 2] = buffer.length;
  const stored = Math.floor(now / 1000);
  words[CACHED.STORED >> 2] = stored;
  words[CACHED.EXPIRES >> 2] = stored + answer.lifetime;
  words[CACHED.FLAGS >> 2] = cachedFlags(answer) | (sources === undefined ? 0 : CACHED_FLAG.HAS_SOURCES);
  words[CACHED.BODY >> 2] = bodyStart;
  words[CACHED.OUTCOME >> 2] = answer.outcome;
  octets.set(answer.name, CACHED.NAME);
  if (sources !== undefined) writeSources(words, behindOffsets >> 2, sources);
  return bodyStart;
}

function writeSources(words: Uint32Array, at: number, { plan, publications }: AnswerSources): void {
  const [first, second] = publications;
  const none = { id: NO_PUBLICATION, epoch: 0 };
  words[at] = plan;
  words[at + 1] = (first ?? none).id;
  words[at + 2] = (first ?? none).epoch;
  words[at + 3] = (second ?? none).id;
  words[at + 4] = (second ?? none).epoch;
}

/** The labels of a name before the apex; undefined if the name does not end in the apex. */
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

const writer = new OctetWriter();

/** The SOA record of a zone's negative answers, with gaps for pointers to the apex. */
function compressSoa(settings: ZoneSettings): {
  readonly record: Uint8Array;
  readonly pointers: readonly number[];
} {
  const { soaData, apex, negativeTtl } = settings;
  const mailboxStart = nameEnd(soaData, 0);
  const numbersStart = nameEnd(soaData, mailboxStart);
  writer.rewind(0, 0);
  const pointers: number[] = [];
  const writePointer = (): void => {
    pointers.push(writer.position);
    writer.uint16(0xc000);
  };
  writePointer();
  writer.uint16(TYPE.SOA);
  writer.uint16(CLASS.IN);
  writer.uint32(negativeTtl);
  const lengthAt = writer.position;
  writer.uint16(0);
  for (const name of [soaData.subarray(0, mailboxStart), soaData.subarray(mailboxStart, numbersStart)]) {
    const before = labelsBefore(name, apex);
    writer.bytes(before ?? name);
    if (before !== undefined) writePointer();
  }
  writer.bytes(soaData.subarray(numbersStart));
  const end = writer.position;
  writer.position = lengthAt;
  writer.uint16(end - lengthAt - 2);
  return { record: writer.octets.slice(0, end), pointers };
}

export function encodeSettings(buffer: BlockBuffer, settings: ZoneSettings): void {
  const { record, pointers } = compressSoa(settings);
  const recordStart = ZONE.POINTERS + padded(pointers.length * 2);
  buffer.begin(recordStart + record.length);
  const { words, octets } = buffer;
  words[ZONE.FLAGS >> 2] =
    (settings.known ? ZONE_FLAG.KNOWN : 0) |
    (settings.authoritativeNxdomain ? ZONE_FLAG.AUTHORITATIVE_NXDOMAIN : 0) |
    (settings.askWildcards ? ZONE_FLAG.ASK_WILDCARDS : 0) |
    (settings.cachesOpenTypes === true ? ZONE_FLAG.CACHES_OPEN_TYPES : 0) |
    (settings.missing === 'next' ? ZONE_FLAG.MISSING_NEXT : 0) |
    (settings.missing === 'ask' ? ZONE_FLAG.MISSING_ASK : 0) |
    (settings.any === 'minimal' ? ZONE_FLAG.ANY_MINIMAL : 0) |
    (settings.any === 'refused' ? ZONE_FLAG.ANY_REFUSED : 0);
  words[ZONE.LENGTHS >> 2] = settings.apex.length | (record.length << 16);
  words[ZONE.RECORD >> 2] = recordStart | (pointers.length << 16);
  words[ZONE.SIZE >> 2] = buffer.length;
  new Uint16Array(octets.buffer, ZONE.POINTERS, pointers.length).set(pointers);
  octets.set(record, recordStart);
}
