/**
 * Two replies that differ, as rows of the table look at them: records are text, in the form of `roles/compare`.
 */
import { type Question, TYPE } from '@portolan/dns/types.ts';

/** The parts of a reply that rows look at. */
export interface ReplyText {
  readonly rcode: string;
  /** Two letters for each: `aa`, `tc`, `rd`, `ra`, `ad`, `cd`. */
  readonly flags: readonly string[];
  /** Each record as `name ttl class type data`. */
  readonly answer: readonly string[];
  readonly authority: readonly string[];
  readonly additional: readonly string[];
}

/** `one` is of the original, `other` of Portolan. */
export interface DifferingReplies {
  readonly question: Question;
  readonly one: ReplyText;
  readonly other: ReplyText;
  /** The parts that differ, sorted. */
  readonly parts: readonly string[];
}

export const hasFlag = ({ flags }: ReplyText, flag: string): boolean => flags.includes(flag);
export const isNoData = ({ rcode, answer }: ReplyText): boolean => rcode === 'NOERROR' && answer.length === 0;
export const isFailure = ({ rcode }: ReplyText): boolean => rcode === 'REFUSED' || rcode === 'SERVFAIL';
export const isOnly = (parts: readonly string[], part: string): boolean =>
  parts.every((each) => each === part);
export const isAddressType = ({ type }: Question): boolean => type === TYPE.A || type === TYPE.AAAA;
export const isAlias = (record: string): boolean => / CNAME \S+$/.test(record);
const lower = (record: string) => record.toLowerCase();
/** Without the TTL too: that of a cached record counts down. */
const normal = (record: string) => lower(record.replace(/^(\S+) \S+/, '$1'));

export function isSame(ones: readonly string[], others: readonly string[]): boolean {
  const sorted = others.toSorted();
  return ones.length === others.length && ones.toSorted().every((each, place) => each === sorted[place]);
}

/** Whether `others` are the same records, in lower case. */
export function isSameButForCapitals(ones: readonly string[], others: readonly string[]): boolean {
  return isSame(ones.map(normal), others.map(normal));
}

/** Whether all of `others` are among `ones`, whatever their TTLs. */
export function hasAll(ones: readonly string[], others: readonly string[]): boolean {
  const known = new Set(ones.map(normal));
  return others.every((record) => known.has(normal(record)));
}

/** The zone that answers: the owner of the SOA record. */
export function soaOwner({ answer, authority }: ReplyText): string | undefined {
  return [...answer, ...authority]
    .map((record) => /^(\S+) \S+ (?:\S+ )?SOA /.exec(record)?.[1])
    .find((owner) => owner !== undefined);
}

export function isReverse({ question: { name } }: DifferingReplies): boolean {
  return /\.(?:in-addr|ip6)\.arpa\.$/i.test(name);
}
