/**
 * Judges whether two replies say the same: the rules for the recorded answers of CoreDNS and kube-dns, and for two servers that are asked.
 *
 * Sections are sets unless their order counts. So are flags and EDNS options.
 */
import { isDeepStrictEqual } from 'node:util';

/** A reply, or another result, part by part. A part `ordered` that is true says that the order of records counts. */
export type JudgedResult = Readonly<Record<string, unknown>>;

export interface JudgeRules {
  /** Seconds by which TTLs may differ. */
  readonly ttl: number;
  /** Whether `*` in the expected result matches any text, as in recordings. */
  readonly hasStars: boolean;
  /** Whether the second reply may give a reason, an extended error, where the first one gives none. */
  readonly allowsReasons?: boolean;
}

/** A second may have passed between two answers, so TTLs may differ by 1. */
export const NEAR_TTL = 1;

/** The rules for recordings in which `*` stands for what no second run can repeat. */
export const RECORDED: JudgeRules = { ttl: NEAR_TTL, hasStars: true };

/** Sections, and the records that came first in several replies. */
const RECORDS: ReadonlySet<string> = new Set(['answer', 'authority', 'additional', 'firsts']);

/** The names of the parts that differ, sorted. */
export function differingParts(
  expected: JudgedResult,
  got: JudgedResult,
  rules: JudgeRules,
): readonly string[] {
  const parts = [...new Set([...Object.keys(expected), ...Object.keys(got)])].sort();
  const isOrdered = expected['ordered'] === true;
  return parts.filter(
    (part) => part !== 'ordered' && !isSamePart(part, [expected[part], got[part]], rules, isOrdered),
  );
}

function isSamePart(
  part: string,
  [expected, got]: readonly [unknown, unknown],
  rules: JudgeRules,
  isOrdered: boolean,
): boolean {
  const areTexts = isTexts(expected) && isTexts(got);
  if (RECORDS.has(part) && areTexts)
    return isSameSection(expected, got, rules, isOrdered && part !== 'firsts');
  if (part === 'flags' && areTexts) return isDeepStrictEqual([...expected].sort(), [...got].sort());
  if (part === 'edns') {
    const mayDrop = rules.allowsReasons === true && !hasReason(expected);
    return isLike(sortOptions(expected), sortOptions(mayDrop ? withoutReason(got) : got), rules);
  }
  return isLike(expected, got, rules);
}

/** Whether a repeated question was answered alike, with all records in the same order. */
export function isSameReply(one: JudgedResult, other: JudgedResult): boolean {
  const parts = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return parts.every((part) => {
    const mine = one[part];
    const its = other[part];
    if (part === 'firsts' || !RECORDS.has(part) || !isTexts(mine) || !isTexts(its))
      return isDeepStrictEqual(mine, its);
    return (
      mine.length === its.length &&
      mine.every((record, place) => isLikeRecord(record, its[place] ?? '', RECORDED))
    );
  });
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function sortOptions(edns: unknown): unknown {
  const options = optionsIn(edns);
  return options === undefined ? edns : { ...Object(edns), options: options.map(String).sort() };
}

function optionsIn(edns: unknown): readonly unknown[] | undefined {
  if (edns === null || typeof edns !== 'object' || !('options' in edns)) return undefined;
  return Array.isArray(edns.options) ? edns.options : undefined;
}

const isReason = (option: unknown): boolean => Array.isArray(option) && option[0] === 'ede';

function hasReason(edns: unknown): boolean {
  return optionsIn(edns)?.some(isReason) === true;
}

function withoutReason(edns: unknown): unknown {
  const options = optionsIn(edns);
  return options === undefined
    ? edns
    : { ...Object(edns), options: options.filter((option) => !isReason(option)) };
}

function isSameSection(
  expected: readonly string[],
  got: readonly string[],
  rules: JudgeRules,
  isOrdered: boolean,
): boolean {
  const wanted = ownAddresses(expected);
  const left = ownAddresses(got);
  if (wanted.length !== left.length) return false;
  if (isOrdered) return wanted.every((record, place) => isLikeRecord(record, left[place] ?? '', rules));
  if (!rules.hasStars) return isSameSet(wanted, left, rules);
  return wanted.every((record) => {
    const place = left.findIndex((each) => isLikeRecord(record, each, rules));
    if (place >= 0) left.splice(place, 1);
    return place >= 0;
  });
}

/** Without stars, equal records are neighbours once both are sorted by all but the TTL: a section may have thousands. */
function isSameSet(wanted: readonly string[], left: readonly string[], rules: JudgeRules): boolean {
  const others = sortRecords(left);
  return sortRecords(wanted).every((record, place) => isLikeRecord(record, others[place] ?? '', rules));
}

function sortRecords(records: readonly string[]): readonly string[] {
  const keyed = records.map((record) => {
    const [name = '', ttl = '', ...data] = record.split(' ');
    return { record, key: `${name} ${data.join(' ')}`, ttl: Number(ttl) };
  });
  keyed.sort((one, other) => {
    if (one.key !== other.key) return one.key < other.key ? -1 : 1;
    return one.ttl - other.ttl;
  });
  return keyed.map(({ record }) => record);
}

/** Stands in a record for an address of the server itself, of any family, once for all of them. */
const OWN_ADDRESS = '{HOSTIP}';

function ownAddresses(section: readonly string[]): string[] {
  const lines = section.map((line) => line.replace(/IN (?:A|AAAA) \{HOSTIP\}$/, `IN ADDRESS ${OWN_ADDRESS}`));
  const seen = new Set<string>();
  return lines.filter((line) => {
    if (!line.endsWith(OWN_ADDRESS)) return true;
    const isFirst = !seen.has(line);
    seen.add(line);
    return isFirst;
  });
}

/** Whether two records are the same but for stars in the first one and near TTLs. */
export function isLikeRecord(expected: string, got: string, rules: JudgeRules = RECORDED): boolean {
  const [name = '', ttl = '', ...data] = expected.split(' ');
  const [gotName = '', gotTtl = '', ...gotData] = got.split(' ');
  const isNear =
    (rules.hasStars && ttl === '*') || ttl === gotTtl || Math.abs(Number(ttl) - Number(gotTtl)) <= rules.ttl;
  return isNear && isLike(name, gotName, rules) && isLike(data.join(' '), gotData.join(' '), rules);
}

/** Whether two values are the same but for stars in the texts of the first one. */
export function isLike(expected: unknown, got: unknown, rules: JudgeRules = RECORDED): boolean {
  if (typeof expected === 'string' && typeof got === 'string')
    return rules.hasStars ? isLikeText(expected, got) : expected === got;
  if (Array.isArray(expected) && Array.isArray(got))
    return expected.length === got.length && expected.every((each, place) => isLike(each, got[place], rules));
  if (isObject(expected) && isObject(got)) {
    const keys = Object.keys(expected);
    return (
      keys.length === Object.keys(got).length && keys.every((key) => isLike(expected[key], got[key], rules))
    );
  }
  return isDeepStrictEqual(expected, got);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Looks for the parts between the stars one behind the other. */
function isLikeText(expected: string, got: string): boolean {
  const [first = '', ...rest] = expected.split('*');
  const last = rest.pop();
  if (last === undefined) return expected === got;
  if (!got.startsWith(first) || !got.endsWith(last) || got.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = got.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= got.length - last.length;
}

/** Replaces the serial numbers of SOA records that are a server's own. @param mask in their place */
export function maskSerials(text: string, isOwn: (serial: number) => boolean, mask = '*'): string {
  return text.replace(
    /( SOA \S+ \S+ )(\d+)( \d+ \d+ \d+ \d+)/g,
    (_, before: string, serial: string, after: string) =>
      `${before}${isOwn(Number(serial)) ? mask : serial}${after}`,
  );
}

/** The name server of a cluster's zone, which is the server itself. A service `ns` of a namespace `dns` is not. */
const NAME_SERVER = /^(ns\.dns\.(?!svc\.)\S+ \d+ (?:IN )?)(?:A|AAAA) \S+$/;

/** Masks the address of a name server that a record of a cluster's zone gives: that of the server that was asked. */
export function maskNameServer(record: string): string {
  return record.replace(NAME_SERVER, `$1ADDRESS ${OWN_ADDRESS}`);
}
