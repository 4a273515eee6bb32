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
    const result = got.steps?.[number]?.result ?? {};
    const parts = differingParts(normalise(step.result), normalise(result), {
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
