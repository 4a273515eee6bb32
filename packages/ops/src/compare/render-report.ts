/**
 * The report of a comparison, for people and for programs.
 */
import type { Said, Sides } from './judge-replies.ts';
import type { ComparedTimes, Counted, DifferenceExample, DifferenceKind } from './tally.ts';

export interface ComparisonReport {
  /** Of this form; a change of a field's meaning changes it. */
  readonly apiVersion: typeof REPORT_VERSION;
  readonly kind: 'Comparison';
  /** The names of the sides, and what each stands for. */
  readonly sides: Readonly<Record<string, string>>;
  readonly counts: Omit<Counted, 'kinds' | 'roundTrips'>;
  readonly differences: readonly DifferenceKind[];
  /** Milliseconds, by the name of the side. */
  readonly roundTrips: Readonly<Record<string, ComparedTimes | undefined>>;
  /** Items of the input without a question. */
  readonly leftOut: { readonly count: number; readonly first?: string };
  /** Microseconds of processor time for each question, by what they are spent on. */
  readonly processorTime?: Readonly<Record<string, number>>;
}

const REPORT_VERSION = 'portolan/v1';

export interface ReportParts {
  readonly sides: Sides;
  readonly places: readonly [string, string];
  readonly counted: Counted;
  readonly leftOut: { readonly count: number; readonly first: string | undefined };
  readonly processorTime?: Readonly<Record<string, number>>;
}

export function makeReport({
  sides,
  places,
  counted,
  leftOut,
  processorTime,
}: ReportParts): ComparisonReport {
  const { kinds, roundTrips, ...counts } = counted;
  const [one, other] = sides;
  return {
    apiVersion: REPORT_VERSION,
    kind: 'Comparison',
    sides: { [one]: places[0], [other]: places[1] },
    counts,
    differences: kinds,
    roundTrips: { [one]: roundTrips[0], [other]: roundTrips[1] },
    leftOut: { count: leftOut.count, ...(leftOut.first !== undefined && { first: leftOut.first }) },
    ...(processorTime && { processorTime }),
  };
}

export function renderReport(report: ComparisonReport): string {
  const { counts, differences, leftOut } = report;
  const { questions, equal, equalButTtl, equalWhenAskedAgain, different, known } = counts;
  const rows: readonly (readonly [number, string])[] = [
    [questions, 'questions'],
    [equal, 'equal'],
    [equalButTtl, 'equal but for TTLs'],
    [equalWhenAskedAgain, 'equal when asked again'],
    [different, known === 0 ? 'different' : `different, of which ${known} as documented`],
  ];
  const width = String(questions).length;
  const always = new Set(['questions', 'equal', 'different']);
  const lines = rows
    .filter(([count, what]) => count > 0 || always.has(what))
    .map(([count, what]) => `${String(count).padStart(width)} ${what}`);
  const left = leftOut.count === 0 ? [] : [`left out: ${leftOut.count}, first ${leftOut.first ?? ''}`];
  return `${[
    ...Object.entries(report.sides).map(([name, place]) => `${name}: ${place}`),
    '',
    ...lines,
    ...left,
    ...differences.flatMap((kind) => ['', ...renderKind(kind, Object.keys(report.sides))]),
    '',
    ...renderCosts(report),
  ].join('\n')}\n`;
}

function renderKind(
  { reason, deviation, count, examples }: DifferenceKind,
  names: readonly string[],
): string[] {
  const known = deviation === undefined ? [] : [`  documented: ${deviation.text}`, `  see ${deviation.page}`];
  return [`${count} x ${reason}`, ...known, ...examples.flatMap((example) => renderExample(example, names))];
}

function renderExample({ question, said }: DifferenceExample, names: readonly string[]): readonly string[] {
  const width = Math.max(...names.map(({ length }) => length));
  return [
    `  ${question}`,
    ...said.map((each, place) => `    ${(names[place] ?? '').padEnd(width)}  ${renderSaid(each)}`),
  ];
}

function renderSaid(said: Said): string {
  if (typeof said === 'string') return said;
  return Object.entries(said)
    .map(([part, value]) => {
      const text = Array.isArray(value) ? value.map(String).join(' | ') || 'none' : formatValue(value);
      return part === 'rcode' ? text : `${part}: ${text}`;
    })
    .join('; ');
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none');
}

function renderCosts({ roundTrips, processorTime = {} }: ComparisonReport): readonly string[] {
  const trips = Object.entries(roundTrips).flatMap(([side, trip]) =>
    trip === undefined
      ? []
      : [
          `${side}: p50 ${trip.p50.toFixed(2)} ms, p99 ${trip.p99.toFixed(2)} ms, max ${trip.max.toFixed(2)} ms`,
        ],
  );
  const times = Object.entries(processorTime).map(
    ([what, microseconds]) => `${what}: ${microseconds.toFixed(0)} us of processor time for each question`,
  );
  return [...trips, ...times];
}
