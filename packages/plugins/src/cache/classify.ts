/**
 * Classifies answers for the cache, and computes their lifetimes: the rules of plugin/cache of CoreDNS 1.14.7.
 */

import { toKey } from '@portolan/dns/name.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import { readValidity, secondsUntil } from '@portolan/dns/signed-records.ts';
import {
  CLASS,
  type NameKey,
  OPCODE,
  type Question,
  RCODE,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import type { WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { TtlBounds } from '@portolan/kernel/forward/caching/answer-form.ts';
import type { CoreDnsCacheRules } from './options.ts';

/**
 * `success` and `denial` are cached separately; `failure` is a denial with its own lifetime. Answers of class `none` are never
 * cached.
 */
export type AnswerClass = 'success' | 'delegation' | 'denial' | 'failure' | 'none';

/** Seconds, for delegations and answers without records. */
const SHORT_TTL = 5;

/** @param now seconds since the epoch */
export function classify(query: Query, answer: WholeAnswer, now: number): AnswerClass {
  const { rcode, answers, authorities } = answer;
  const { type } = query.question;
  if (query.header.opcode !== OPCODE.QUERY) return 'none';
  if (type === TYPE.AXFR || type === TYPE.IXFR || holdsExpiredSignature(answer, now)) return 'none';
  const hasSoa = authorities.some(({ data }) => data.kind === 'SOA');
  if (answers.length > 0) {
    if (rcode !== RCODE.NOERROR) return 'none';
    return hasSoa && !answersQuestion(query.question, answers) ? 'denial' : 'success';
  }
  if (rcode === RCODE.NXDOMAIN) return 'denial';
  if (rcode === RCODE.SERVFAIL || rcode === RCODE.NOTIMP) return 'failure';
  if (rcode !== RCODE.NOERROR) return 'none';
  if (hasSoa) return 'denial';
  return authorities.some(({ data }) => data.kind === 'NS') ? 'delegation' : 'success';
}

/** Whether an answer may be cached. */
export function mayKeep(
  { question, mayBeCached }: Query,
  answer: WholeAnswer,
  answerClass: AnswerClass,
): boolean {
  if (!mayBeCached || answer.truncated || answerClass === 'none') return false;
  const { rcode, answers, authorities } = answer;
  if (authorities.some(({ data }) => data.kind === 'SOA')) return true;
  if (rcode === RCODE.NXDOMAIN) return false;
  // Clients would take half a chain of aliases for the whole.
  return answerClass !== 'success' || answers.length === 0 || answersQuestion(question, answers);
}

/**
 * Seconds, 0 or more: lifetime of the entry, and TTL of each record.
 *
 * @param heedsMinimum whether a denial is cached for the minimum of its SOA record at most (RFC 2308 section 5); CoreDNS takes only its TTL
 */
export function computeLifetime(
  answer: WholeAnswer,
  answerClass: AnswerClass,
  rules: CoreDnsCacheRules,
  heedsMinimum: boolean,
): number {
  if (answerClass === 'failure') return Math.floor(rules.servfailTtl / 1000);
  const minimum = heedsMinimum && answerClass === 'denial' ? findSoaMinimum(answer) : undefined;
  if (minimum !== undefined) {
    const { minTtl, maxTtl } = denialBounds(rules, heedsMinimum);
    return Math.max(Math.min(computeMinTtl(answer, maxTtl), minimum), minTtl);
  }
  const { minTtl, maxTtl } = answerClass === 'denial' ? rules.denial : rules.success;
  const ttl =
    answerClass === 'success' || answerClass === 'denial' ? computeMinTtl(answer, maxTtl) : SHORT_TTL;
  return Math.min(Math.max(ttl, minTtl), maxTtl);
}

/** The bounds of the TTLs of denials with an SOA record. @param heedsMinimum as above */
export function denialBounds({ denial }: CoreDnsCacheRules, heedsMinimum: boolean): TtlBounds {
  const { minTtl, maxTtl, isMinTtlGiven = false } = denial;
  return { minTtl: heedsMinimum && !isMinTtlGiven ? 0 : minTtl, maxTtl };
}

function findSoaMinimum({ authorities }: WholeAnswer): number | undefined {
  for (const { data } of authorities) if (data.kind === 'SOA') return data.minimum;
  return undefined;
}

function computeMinTtl({ answers, authorities, additionals }: WholeAnswer, max: number): number {
  const records = [...answers, ...authorities, ...additionals];
  if (records.length === 0) return SHORT_TTL;
  return records.reduce((min, { ttl }) => Math.min(min, ttl), max);
}

/** Whether the aliases from the question's name end at a record of the question's type. */
export function answersQuestion(
  { name, type, class: dnsClass }: Question,
  answers: readonly ResourceRecord[],
): boolean {
  const ofClass = answers.filter((record) => dnsClass === CLASS.ANY || record.class === dnsClass);
  const has = (owner: NameKey, wanted: number) =>
    ofClass.some((record) => typeOfData(record.data) === wanted && toKey(record.name) === owner);
  const first = toKey(name);
  if (type === TYPE.ANY) return ofClass.some((record) => toKey(record.name) === first);
  if (type === TYPE.CNAME) return findAlias(first, ofClass).kind === 'alias';
  const seen = new Set<NameKey>();
  for (let owner = first; !seen.has(owner); ) {
    seen.add(owner);
    const alias = findAlias(owner, ofClass);
    if (alias.kind !== 'alias') return alias.kind === 'none' && has(owner, type);
    owner = alias.target;
  }
  return false;
}

type AliasAt = { readonly kind: 'alias'; readonly target: NameKey } | { readonly kind: 'none' | 'several' };

/** The target of the CNAME at a name. Several different targets cannot be followed. */
function findAlias(owner: NameKey, records: readonly ResourceRecord[]): AliasAt {
  const targets = new Set<NameKey>();
  for (const { name, data } of records)
    if (data.kind === 'CNAME' && toKey(name) === owner) targets.add(toKey(data.target));
  const [target] = targets;
  if (target === undefined) return { kind: 'none' };
  return targets.size === 1 ? { kind: 'alias', target } : { kind: 'several' };
}

/** Signatures count only if the server says that they were asked for. @param now seconds since the epoch */
function holdsExpiredSignature(answer: WholeAnswer, now: number): boolean {
  if (answer.edns?.dnssecOk !== true) return false;
  const { answers, authorities, additionals } = answer;
  return [...answers, ...authorities, ...additionals].some(({ data }) => {
    const validity = data.kind === 'unknown' && data.type === TYPE.RRSIG && readValidity(data.bytes);
    if (!validity) return false;
    return secondsUntil(validity.expiration, now) < 0 || secondsUntil(now, validity.inception) < 0;
  });
}
