/**
 * Compares the results of a case with the recorded ones, by the rules of the judge.
 */
import { differingParts, isLike, RECORDED } from '@portolan/ops/compare/judge.ts';
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

/** @param isStrict whether `-compat` is given; otherwise failures have reasons, which CoreDNS does not give */
export function compareResults(
  expected: CaseResult,
  got: CaseResult,
  isStrict = false,
): readonly Difference[] {
  if (!isSameStart(expected.start, got.start))
    return [{ step: undefined, what: 'start', expected: expected.start, got: got.start }];
  return (expected.steps ?? []).flatMap((step, number) => {
    const { result = {}, late = 0 } = got.steps?.[number] ?? {};
    const wanted = normalise(step.result);
    const parts = differingParts(wanted, withoutDelay(normalise(result), wanted, late), {
      ...RECORDED,
      allowsReasons: !isStrict,
    });
    if (parts.length === 0) return [];
    const pick = (from: StepResult) => Object.fromEntries(parts.map((part) => [part, from[part]]));
    const what = `${describeStep(step)}: ${parts.join(', ')}`;
    return [{ step: number, what, expected: pick(step.result), got: pick(result) }];
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

/**
 * On a busy machine the steps of a case take longer than when it was recorded, and TTLs have counted down meanwhile: records that differ
 * from the expected ones by no more than that have their TTLs.
 *
 * @param late seconds
 */
function withoutDelay(got: StepResult, expected: StepResult, late: number): StepResult {
  if (late < 1) return got;
  const parts = Object.entries(got).map(([part, value]): [string, unknown] => {
    const wanted = expected[part];
    if (!RECORDS.includes(part) || !Array.isArray(value) || !Array.isArray(wanted)) return [part, value];
    return [part, value.map((each) => findUndelayed(String(each), wanted.map(String), late))];
  });
  return Object.fromEntries(parts);
}

function findUndelayed(record: string, expected: readonly string[], late: number): string {
  const [, owner, ttl, rest] = RECORD.exec(record) ?? [];
  const isAsExpected = (line: string): boolean => {
    const [, name, before, data] = RECORD.exec(line) ?? [];
    const passed = Number(before) - Number(ttl);
    return name === owner && data === rest && passed >= 0 && passed <= late + 1;
  };
  return expected.find(isAsExpected) ?? record;
}

/** Owner, TTL, and what follows. */
const RECORD = /^(\S+) (\d+) (.*)$/s;

const RECORDS: readonly string[] = ['answer', 'authority', 'additional', 'firsts'];

/** The recording was written by another program: its records in our own words. */
function normalise(result: StepResult): StepResult {
  const parts = Object.entries(result).map(([part, value]): [string, unknown] => [
    part,
    RECORDS.includes(part) && Array.isArray(value)
      ? value.map((each) => normaliseRecord(String(each)))
      : value,
  ]);
  return Object.fromEntries(parts);
}
