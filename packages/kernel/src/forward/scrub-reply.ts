/**
 * Keeps only the records of a reply that belong to its question, whatever its sender. So unsolicited records never
 * reach a client or the cache (RFC 5452 section 6, RFC 2181 section 5.4.1).
 *
 *     answers       the chain of CNAMEs (and DNAMEs) from the question's name, in order, and the requested records at its end
 *     authorities   of names at or above one of the chain
 *     additionals   addresses of names in the kept records
 */
import { isWithin, toKey, toParent } from '@portolan/dns/name.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import {
  type AbsoluteName,
  type Message,
  type NameKey,
  type Question,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';

/** Names of the chain, from the question on, that DNAMEs and authority records are looked for: the work for a long chain stays small. */
const MAX_SEARCHED = 16;
/** NS, SOA and the types of proofs of non-existence: DS, RRSIG, NSEC, NSEC3. */
const AUTHORITY_TYPES: ReadonlySet<number> = new Set([TYPE.NS, TYPE.SOA, TYPE.DS, TYPE.RRSIG, TYPE.NSEC, 50]);
const ADDRESS_TYPES: ReadonlySet<number> = new Set([TYPE.A, TYPE.AAAA, TYPE.RRSIG]);

export interface ScrubbedReply {
  readonly message: Message;
  /** The number of records that did not belong. */
  readonly dropped: number;
  /** Whether its aliases lead back to one of themselves, so that they show no answer. */
  readonly isLoop: boolean;
}

/** The names on the way from the question to its answer. */
interface AliasChain {
  readonly names: Set<NameKey>;
  /** The names that authority records are compared with: the first ones and the last. */
  searched: readonly NameKey[];
  isLoop: boolean;
}

/** Keeps the records that answer the question. Returns the same message if all do. */
export function scrubReply(question: Question, message: Message): ScrubbedReply {
  const { answers, authorities, additionals } = message;
  const hasAnswersOnly = authorities.length === 0 && additionals.length === 0;
  if (hasAnswersOnly && isPlain(question, answers)) return { message, dropped: 0, isLoop: false };
  const chain: AliasChain = { names: new Set(), searched: [toKey(question.name)], isLoop: false };
  const keptAnswers = isPlain(question, answers) ? answers : followChain(question, answers, chain);
  const keptAuthorities = authorities.filter(
    (record) => record.class === question.class && belongsToChain(record, chain.searched),
  );
  const named = collectTargets([...keptAnswers, ...keptAuthorities]);
  const keptAdditionals = additionals.filter(
    (record) =>
      record.class === question.class &&
      ADDRESS_TYPES.has(typeOfData(record.data)) &&
      named.has(toKey(record.name)),
  );
  const before = answers.length + authorities.length + additionals.length;
  const dropped = before - keptAnswers.length - keptAuthorities.length - keptAdditionals.length;
  const { isLoop } = chain;
  if (dropped === 0 && keptAnswers === answers) return { message, dropped, isLoop };
  return {
    message: { ...message, answers: keptAnswers, authorities: keptAuthorities, additionals: keptAdditionals },
    dropped,
    isLoop,
  };
}

/** Nearly all replies: they only have records of the requested name and type. */
function isPlain(question: Question, answers: readonly ResourceRecord[]): boolean {
  const key = toKey(question.name);
  return answers.every(
    (record) =>
      typeOfData(record.data) === question.type &&
      record.class === question.class &&
      (record.name === question.name || toKey(record.name) === key),
  );
}

/** The records that lead from the question to its answer, in that order. @param chain receives what they show */
function followChain(
  question: Question,
  answers: readonly ResourceRecord[],
  chain: AliasChain,
): readonly ResourceRecord[] {
  const byOwner = groupByOwner(question, answers);
  const kept: ResourceRecord[] = [];
  let owner = toKey(question.name);
  for (;;) {
    chain.names.add(owner);
    if (chain.names.size <= MAX_SEARCHED) kept.push(...dnamesAbove(owner, byOwner));
    const here = byOwner.get(owner) ?? [];
    const alias = question.type === TYPE.ANY ? undefined : findAlias(here, byOwner);
    const wanted = here.filter((record) => isWanted(record, question.type, alias));
    kept.push(...wanted);
    if (alias?.data.kind !== 'CNAME' || question.type === TYPE.CNAME) break;
    owner = toKey(alias.data.target);
    chain.isLoop = chain.names.has(owner);
    if (chain.isLoop) break;
  }
  chain.searched = [...[...chain.names].slice(0, MAX_SEARCHED), owner];
  return kept;
}

function groupByOwner(
  question: Question,
  answers: readonly ResourceRecord[],
): ReadonlyMap<NameKey, ResourceRecord[]> {
  const byOwner = new Map<NameKey, ResourceRecord[]>();
  for (const record of answers) {
    if (record.class !== question.class) continue;
    const key = toKey(record.name);
    const group = byOwner.get(key);
    if (group === undefined) byOwner.set(key, [record]);
    else group.push(record);
  }
  return byOwner;
}

/** The CNAME among the records of a name: of several, which are an error, the first that leads to records. */
function findAlias(
  records: readonly ResourceRecord[],
  byOwner: ReadonlyMap<NameKey, readonly ResourceRecord[]>,
): ResourceRecord | undefined {
  const aliases = records.filter(({ data }) => data.kind === 'CNAME');
  if (aliases.length < 2) return aliases[0];
  const leadsOn = ({ data }: ResourceRecord) => data.kind === 'CNAME' && byOwner.has(toKey(data.target));
  return aliases.find(leadsOn) ?? aliases[0];
}

function isWanted(record: ResourceRecord, type: number, alias: ResourceRecord | undefined): boolean {
  const own = typeOfData(record.data);
  // A CNAME excludes all other records (RFC 2181 section 10.1), and must be the only one.
  if (alias !== undefined) return record === alias || signs(record, TYPE.CNAME);
  return own === type || type === TYPE.ANY || signs(record, type);
}

/** Whether it is a signature for a type (RFC 4034 section 3.1.1). */
function signs({ data }: ResourceRecord, type: number): boolean {
  if (data.kind !== 'unknown' || data.type !== TYPE.RRSIG) return false;
  return (((data.bytes[0] ?? 0) << 8) | (data.bytes[1] ?? 0)) === type;
}

/** DNAMEs of ancestors, which justify a synthesised CNAME (RFC 6672 section 3). */
function dnamesAbove(
  owner: NameKey,
  byOwner: ReadonlyMap<NameKey, readonly ResourceRecord[]>,
): readonly ResourceRecord[] {
  const found: ResourceRecord[] = [];
  for (let name = toParent(owner); name !== undefined; name = toParent(name)) {
    for (const record of byOwner.get(name) ?? [])
      if (record.data.kind === 'DNAME' || signs(record, TYPE.DNAME)) found.push(record);
  }
  return found;
}

function belongsToChain(record: ResourceRecord, chain: readonly NameKey[]): boolean {
  const type = typeOfData(record.data);
  if (!AUTHORITY_TYPES.has(type)) return false;
  const owner = toKey(record.name);
  // Proofs of non-existence belong to names next to the requested one.
  if (type !== TYPE.NS && type !== TYPE.SOA && type !== 43) return true;
  for (const name of chain) if (isWithin(name, owner)) return true;
  return false;
}

function collectTargets(records: readonly ResourceRecord[]): ReadonlySet<NameKey> {
  const names = new Set<NameKey>();
  for (const { name, data } of records) {
    const target = findTarget(name, data);
    if (target !== undefined) names.add(toKey(target));
  }
  return names;
}

function findTarget(owner: AbsoluteName, data: ResourceRecord['data']): AbsoluteName | undefined {
  switch (data.kind) {
    case 'NS':
    case 'SRV':
      return data.target;
    case 'MX':
      return data.exchange;
    case 'NAPTR':
      return data.replacement;
    case 'SVCB':
    case 'HTTPS':
      return data.target === '.' ? owner : data.target;
    default:
      return undefined;
  }
}
