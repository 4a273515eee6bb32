/**
 * What is wrong with answers, for messages.
 */
import { isWithinAny, toKey, toName } from './index.js';

const CODES = ['refused', 'servfail', 'notimp', 'formerr', 'overloaded', 'drop'];

/** @returns what is wrong; undefined: it has the shape of an answer */
export function findAnswerFault(answer) {
  const { kind } = answer ?? {};
  if (CODES.includes(kind)) return undefined;
  if (kind === 'records') return findRecordFault(answer.records, answer.additionals);
  if (kind === 'alias') return findRecordFault(answer.records, [answer.soa]);
  if (kind === 'nodata' || kind === 'nxdomain')
    return findRecordFault(answer.aliases, answer.soa === undefined ? [] : [answer.soa]);
  if (kind === 'message') return findRecordFault(answer.answers, answer.authorities, answer.additionals);
  return kind === undefined ? 'has no kind' : `has a kind that the contract does not know: ${kind}`;
}

function findRecordFault(...sections) {
  for (const section of sections) {
    if (!Array.isArray(section)) return 'lacks a list of records';
    for (const { name, class: recordClass, ttl, data } of section) {
      if (typeof name !== 'string' || toName(name) !== name)
        return `has a record of ${name}, not a whole name`;
      if (!Number.isInteger(ttl) || ttl < 0) return `has a TTL that is not a number of seconds: ${ttl}`;
      if (!Number.isInteger(recordClass)) return `has a record without a class: ${name}`;
      if (typeof data?.kind !== 'string') return `has a record without data: ${name}`;
    }
  }
  return undefined;
}

/** @returns what is wrong with an answer for readers; undefined: nothing */
export function findPublishedFault({ questions }, zones, { name, type }, ...sections) {
  if (toKey(name) !== name) return 'has capitals in its name';
  if (!isWithinAny(name, zones)) return 'is outside the zones of the publication';
  if (!questions.includes(name, type)) return 'its questions do not include';
  if (sections[0]?.length === 0) return 'has no records';
  return findRecordFault(...sections);
}
