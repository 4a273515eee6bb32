/**
 * Defines when two questions are equal: in flight, for the refresh of an expired answer, for prefetching and in the cache.
 */
import { encodeName } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { CachedQuestion } from '../table/types.ts';
import { areSameOctets, type ForwardQuestion, isSameReceived } from './transport/query-message.ts';

/** A question with its name in lower case, so that equal questions have equal fields. */
export interface QuestionKey extends ForwardQuestion {
  readonly name: NameKey;
}

export function isSameQuestion(one: QuestionKey, other: QuestionKey): boolean {
  return (
    one.name === other.name &&
    one.type === other.type &&
    one.class === other.class &&
    one.dnssecOk === other.dnssecOk &&
    one.checkingDisabled === other.checkingDisabled &&
    one.recursionDesired === other.recursionDesired &&
    one.passedOnBy === other.passedOnBy &&
    areSameOctets(one.options, other.options) &&
    isSameReceived(one.asReceived, other.asReceived)
  );
}

/**
 * The cache's form of the question. The cache only holds answers with recursion: a question without RD may be answered
 * from it, but must never change it.
 */
export function toCachedQuestion(key: QuestionKey): CachedQuestion {
  const { type, class: dnsClass, dnssecOk, checkingDisabled } = key;
  return { name: encodeName(key.name), type, class: dnsClass, dnssecOk, checkingDisabled };
}
