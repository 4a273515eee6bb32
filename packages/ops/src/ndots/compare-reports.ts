/**
 * Whether a change has helped: workloads of two reports, by questions for a look-up, whatever their load.
 */
import { asRecord } from '@portolan/kubernetes/objects/trim/fields.ts';
import type { NdotsReport, WorkloadReport } from './report.ts';

export interface WorkloadProgress {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly before: Ratio;
  readonly now: Ratio;
  readonly verdict: 'better' | 'same' | 'worse';
}

export interface Ratio {
  readonly ndots: number;
  readonly lookUps: number;
  /** Questions for a look-up of one type: 1 is the least. */
  readonly questionsEach: number;
}

/** Programs do not ask for the same names in each minute: a smaller change says nothing. */
const NOISE = 0.1;

/** Workloads of which `ndots` has changed, and those that ask otherwise; the most questions before first. */
export function compareReports(before: NdotsReport, now: NdotsReport): readonly WorkloadProgress[] {
  const former = joinByName(before.workloads);
  return Array.from(joinByName(now.workloads), ([key, workload]) => ({ workload, old: former.get(key) }))
    .flatMap(({ workload, old }) => (old === undefined ? [] : [toProgress(old, workload)]))
    .filter((each) => each.verdict !== 'same' || each.before.ndots !== each.now.ndots);
}

interface Totals
  extends Pick<WorkloadReport, 'kind' | 'namespace' | 'name' | 'ndots' | 'questions' | 'lookUps'> {}

/** Pods of a workload with other settings count as one workload during a rollout; the lower `ndots` is the new one. */
function joinByName(workloads: readonly WorkloadReport[]): ReadonlyMap<string, Totals> {
  const joined = new Map<string, Totals>();
  for (const { kind, namespace, name, ndots, questions, lookUps } of workloads) {
    const key = JSON.stringify([kind, namespace, name]);
    const known = joined.get(key);
    joined.set(key, {
      kind,
      namespace,
      name,
      ndots: Math.min(ndots, known?.ndots ?? ndots),
      questions: questions + (known?.questions ?? 0),
      lookUps: lookUps + (known?.lookUps ?? 0),
    });
  }
  return joined;
}

function toProgress(old: Totals, { kind, namespace, name, ...totals }: Totals): WorkloadProgress {
  const before = toRatio(old);
  const now = toRatio(totals);
  const change = now.questionsEach / before.questionsEach - 1;
  const verdict = Math.abs(change) <= NOISE ? 'same' : change < 0 ? 'better' : 'worse';
  return { kind, namespace, name, before, now, verdict };
}

function toRatio({ ndots, questions, lookUps }: Pick<Totals, 'ndots' | 'questions' | 'lookUps'>): Ratio {
  return { ndots, lookUps, questionsEach: lookUps === 0 ? 1 : questions / lookUps };
}

/** A report as `--output=json` printed it; undefined for any other value. */
export function readReport(value: unknown): NdotsReport | undefined {
  const report = asRecord(value);
  const { at, seconds, workloads } = report ?? {};
  if (typeof at !== 'string' || typeof seconds !== 'number' || !Array.isArray(workloads)) return undefined;
  const isWhole = workloads.every((each: unknown) => {
    const workload = asRecord(each);
    return (
      typeof workload?.['kind'] === 'string' &&
      typeof workload['name'] === 'string' &&
      ['ndots', 'questions', 'lookUps'].every((field) => typeof workload[field] === 'number')
    );
  });
  // Nothing else of it is read.
  return isWhole ? (value as NdotsReport) : undefined;
}
