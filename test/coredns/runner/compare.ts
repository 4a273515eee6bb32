/**
 * Compares a result with the recorded one. In the recording `*` matches anything; sections are sets unless their order counts; a
 * TTL may differ by 1.
 */
import { isDeepStrictEqual } from 'node:util';
import { normaliseRecord } from './record-text.ts';
import type { CaseResult, StartResult, Step, StepResult } from './recorded-case.ts';

export interface Difference {
  /** The number of the step, from 0; undefined: the start. */
  readonly step: number | undefined;
  /** What was done, and which parts of its result differ. */
  readonly what: string;
  readonly expected: unknown;
  readonly got: unknown;
}

export function compareResults(expected: CaseResult, got: CaseResult): readonly Difference[] {
  if (!isSameStart(expected.start, got.start))
    return [{ step: undefined, what: 'start', expected: expected.start, got: got.start }];
  return (expected.steps ?? []).flatMap((step, number) => {
    const result = got.steps?.[number]?.result ?? {};
    const parts = differingParts(step.result, result);
    if (parts.length === 0) return [];
    const pick = (from: StepResult) => Object.fromEntries(parts.map((part) => [part, from[part]]));
    const what = `${describeStep(step)}: ${parts.join(', ')}`;
    return [{ step: number, what, expected: pick(step.result), got: pick(result) }];
  });
}

/** Whether a repeated question was answered alike: a second may have passed, so TTLs may differ by 1. */
export function isSameReply(one: StepResult, other: StepResult): boolean {
  const parts = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return parts.every((part) => {
    const [mine, its] = [one[part], other[part]];
    if (!SECTIONS.has(part) || !isTexts(mine) || !isTexts(its)) return isDeepStrictEqual(mine, its);
    return (
      mine.length === its.length && mine.every((record, place) => isLikeRecord(record, its[place] ?? ''))
    );
  });
}

/** Of a failed start the exit code and CoreDNS's own lines count, in their order; further lines are ours. */
function isSameStart(expected: StartResult, got: StartResult): boolean {
  if ('ok' in expected || 'ok' in got) return 'ok' in expected && 'ok' in got;
  if (expected.exit !== got.exit) return false;
  const lines = got.output.split('\n')[Symbol.iterator]();
  return expected.output.split('\n').every((line) => {
    for (let next = lines.next(); next.done !== true; next = lines.next())
      if (isLike(line, next.value)) return true;
    return false;
  });
}

function describeStep(step: Step): string {
  if (step.ask !== undefined) return `ask ${step.ask.name} ${step.ask.type ?? 'A'}`;
  const [kind = '', value] = Object.entries(step)[0] ?? [];
  return `${kind} ${JSON.stringify(value).slice(0, 60)}`;
}

const SECTIONS: ReadonlySet<string> = new Set(['answer', 'authority', 'additional']);

function differingParts(expected: StepResult, got: StepResult): readonly string[] {
  const parts = [...new Set([...Object.keys(expected), ...Object.keys(got)])].sort();
  const isOrdered = expected['ordered'] === true;
  return parts.filter(
    (part) => part !== 'ordered' && !isSamePart(part, expected[part], got[part], isOrdered),
  );
}

function isSamePart(part: string, expected: unknown, got: unknown, isOrdered: boolean): boolean {
  if (SECTIONS.has(part) && isTexts(expected) && isTexts(got)) return isSameSection(expected, got, isOrdered);
  if (part === 'flags' && isTexts(expected) && isTexts(got))
    return isDeepStrictEqual([...expected].sort(), [...got].sort());
  if (part === 'firsts' && isTexts(expected) && isTexts(got)) return isSameSection(expected, got, false);
  if (part === 'edns') return isLike(sortOptions(expected), sortOptions(got));
  return isLike(expected, got);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function sortOptions(edns: unknown): unknown {
  if (edns === null || typeof edns !== 'object' || !('options' in edns) || !Array.isArray(edns.options))
    return edns;
  return { ...edns, options: edns.options.map(String).sort() };
}

function isSameSection(expected: readonly string[], got: readonly string[], isOrdered: boolean): boolean {
  const [wanted, left] = [ownAddresses(expected), ownAddresses(got)];
  if (wanted.length !== left.length) return false;
  if (isOrdered) return wanted.every((record, place) => isLikeRecord(record, left[place] ?? ''));
  return wanted.every((record) => {
    const place = left.findIndex((each) => isLikeRecord(record, each));
    if (place >= 0) left.splice(place, 1);
    return place >= 0;
  });
}

/** The addresses of the machine itself may be any, of any kind. */
function ownAddresses(section: readonly string[]): string[] {
  const lines = section.map((line) =>
    normaliseRecord(line).replace(/IN (?:A|AAAA) \{HOSTIP\}$/, 'IN ADDRESS {HOSTIP}'),
  );
  return lines.filter((line, place) => !line.endsWith('{HOSTIP}') || lines.indexOf(line) === place);
}

/** Whether two records are the same but for stars in the first and 1 second of their TTLs. */
export function isLikeRecord(expected: string, got: string): boolean {
  const [name = '', ttl = '', ...data] = expected.split(' ');
  const [gotName = '', gotTtl = '', ...gotData] = got.split(' ');
  const isNear = ttl === '*' || ttl === gotTtl || Math.abs(Number(ttl) - Number(gotTtl)) <= 1;
  return isNear && isLike(name, gotName) && isLike(data.join(' '), gotData.join(' '));
}

function isLike(expected: unknown, got: unknown): boolean {
  if (typeof expected === 'string' && typeof got === 'string') return isLikeText(expected, got);
  if (Array.isArray(expected) && Array.isArray(got))
    return expected.length === got.length && expected.every((each, place) => isLike(each, got[place]));
  if (isObject(expected) && isObject(got)) {
    const keys = Object.keys(expected);
    return keys.length === Object.keys(got).length && keys.every((key) => isLike(expected[key], got[key]));
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
