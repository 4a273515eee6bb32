/**
 * Compiles zone nodes to finished answers, which readers copy after the question.
 *
 * Names are compressed against a question for the owner itself, at octet 12 of the message. Common sets are written
 * directly; all others by the message writer, without its header and question.
 */
import { MAX_NAME_OCTETS } from '@portolan/dns/label.ts';
import { MessageWriter } from '@portolan/dns/message-writer.ts';
import { writeName } from '@portolan/dns/name-wire.ts';
import { type AbsoluteName, CLASS, type NameKey, RCODE, TYPE, type WireName } from '@portolan/dns/types.ts';
import type { AnswerBody, NameNode, ZoneId } from '../table/types.ts';
import { isPlainTargets, MAX_OCTETS, reuseMemory, writeAddresses, writeTargets } from './direct-body.ts';
import { isWhole, type ZoneNode } from './node.ts';
import { type RecordSet, toRecords } from './record-set.ts';

const writer = new MessageWriter();
const NO_TYPES: readonly number[] = [];

/**
 * Compiles a node. It omits sets whose additional records belong to other owners: the handler chain answers them.
 *
 * Of sets other than addresses, it also omits the last records if the set exceeds the largest message. The result is
 * valid until the next call, which overwrites its octets.
 */
export function compileNode(node: ZoneNode, zone: ZoneId): NameNode {
  reuseMemory();
  const name = writeOwner(node.name);
  const answers = new Map<number, AnswerBody>();
  for (const set of node.sets) {
    if (set.additional === 'elsewhere') continue;
    answers.set(set.type, compileSet(node.name, name, set));
  }
  return toNameNode(node, name, zone, answers);
}

function toNameNode(
  node: ZoneNode,
  name: WireName,
  zone: ZoneId,
  answers: ReadonlyMap<number, AnswerBody>,
): NameNode {
  return {
    name,
    zone,
    below: node.below,
    otherTypes: isWhole(node) ? 'nodata' : 'ask',
    outcome: node.outcome,
    answers,
  };
}

/** Views of one memory, by length: very many names are compiled, and making a view costs more than writing the name. */
const ownerViews: Uint8Array[] = [];
const ownerOctets = new Uint8Array(MAX_NAME_OCTETS);

function writeOwner(name: NameKey): WireName {
  const end = writeName(name, ownerOctets, 0);
  const view = ownerViews[end] ?? ownerOctets.subarray(0, end);
  ownerViews[end] = view;
  return view as WireName; // Written by writeName.
}

/** The types whose sets are too large for any message, even over TCP. */
export function typesTooLarge({ sets }: ZoneNode, { answers }: NameNode): readonly number[] {
  const isTooLarge = ({ type, data }: RecordSet): boolean => {
    const body = answers.get(type);
    return body !== undefined && (body.answerCount < data.length || body.bytes.length > MAX_OCTETS);
  };
  return sets.some(isTooLarge) ? sets.filter(isTooLarge).map(({ type }) => type) : NO_TYPES;
}

function compileSet(owner: NameKey, name: WireName, set: RecordSet): AnswerBody {
  if (set.aliases !== undefined) return compileRecords(owner, set);
  if (set.type === TYPE.A || set.type === TYPE.AAAA) return writeAddresses(set);
  const direct = isPlainTargets(set) ? writeTargets(owner, name, set) : undefined;
  return direct ?? compileRecords(owner, set);
}

function compileRecords(owner: NameKey, set: RecordSet): AnswerBody {
  writer.start(MAX_OCTETS + 12);
  writer.question({ name: owner, type: set.type, class: CLASS.IN });
  const start = writer.length;
  const records = [...(set.aliases ?? []), ...toRecords(findFinalTarget(set) ?? owner, set)];
  let answerCount = 0;
  for (const record of records) {
    if (!writer.record('answers', record)) break;
    answerCount += 1;
  }
  const additionalCount = answerCount === records.length ? writeAdditionals(set) : 0;
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

/** The name that the aliases of a set lead to. */
function findFinalTarget({ aliases }: RecordSet): AbsoluteName | undefined {
  const data = aliases?.at(-1)?.data;
  return data?.kind === 'CNAME' ? data.target : undefined;
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
