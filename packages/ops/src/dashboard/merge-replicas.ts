/**
 * Merges what several replicas say into what the pages show. Pure functions.
 */
import { atLeast, mergeSummaries } from '@portolan/server/observe/statistics/space-saving.ts';
import type { Diagnosis } from '@portolan/server/reasons/finding.ts';
import { type CountedQueries, eachDimension, mergeCounts, type TopRow } from '../control/top-counts.ts';
import type { TopSnapshot } from '../control/watch-verbs.ts';
import type { FailureGroup, Health, ReplicaFinding, ReplicaState, Series, Traffic } from './page-state.ts';

/** Rows of each table, and names of each cause. */
const MAX_ROWS = 50;
const MAX_NAMES = 10;
/** The share of queries that fail from which DNS is degraded or broken. */
const DEGRADED_FROM = 0.005;
const BROKEN_FROM = 0.2;
/** Fewer queries say nothing. */
const MIN_QUERIES = 20;

/** A counted interval of one replica. */
export interface ReplicaSample {
  readonly replica: string;
  /** Its end: milliseconds since 1970. */
  readonly at: number;
  readonly snapshot: TopSnapshot;
}

/** The counts of an interval that are kept longer than its tables. */
export interface Point {
  readonly replica: string;
  readonly at: number;
  readonly queries: number;
  readonly missing: number;
  readonly failed: number;
}

/** Per second. */
export function toPoint({ replica, at, snapshot: { seconds, queries, rcodes } }: ReplicaSample): Point {
  const missing = sumCounts(rcodes, (rcode) => rcode === 'NXDOMAIN');
  const failed = sumCounts(rcodes, isFailure);
  const span = Math.max(seconds, 0.001);
  return { replica, at, queries: queries / span, missing: missing / span, failed: failed / span };
}

/** NXDOMAIN is an answer, and REFUSED what the configuration says. All others are failures of the server or its upstream servers. */
function isFailure(rcode: string): boolean {
  return rcode !== 'NOERROR' && rcode !== 'NXDOMAIN' && rcode !== 'REFUSED';
}

function sumCounts(rows: readonly TopRow[], isCounted: (what: string) => boolean): number {
  return rows.reduce((sum, { what, count }) => sum + (isCounted(what) ? count : 0), 0);
}

/** Sums the latest value of each replica at each step. @param step milliseconds */
export function mergeSeries(points: readonly Point[], step: number): Series {
  const steps = new Map<number, Map<string, Point>>();
  for (const point of points) {
    const time = Math.floor(point.at / step) * step;
    const replicas = steps.get(time) ?? new Map<string, Point>();
    steps.set(time, replicas.set(point.replica, point));
  }
  const sorted = [...steps].sort(([one], [other]) => one - other);
  const column = (field: 'queries' | 'missing' | 'failed') =>
    sorted.map(([, replicas]) => rounded([...replicas.values()].reduce((sum, each) => sum + each[field], 0)));
  return {
    times: sorted.map(([time]) => time / 1_000),
    queries: column('queries'),
    missing: column('missing'),
    failed: column('failed'),
  };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

export function mergeTraffic(samples: readonly ReplicaSample[]): Traffic {
  const spans = new Map<string, number>();
  for (const { replica, snapshot } of samples)
    spans.set(replica, (spans.get(replica) ?? 0) + snapshot.seconds);
  const { summaries, ...totals } = mergeCounts(samples.map(toCountedQueries), MAX_ROWS);
  const searches = samples.map(({ snapshot }) => ({ rows: snapshot.searches, unlisted: 0 }));
  return {
    seconds: rounded(Math.max(0, ...spans.values())),
    ...totals,
    clients: summaries.clients.rows,
    namespaces: summaries.namespaces.rows,
    names: summaries.names.rows,
    rcodes: summaries.rcodes.rows,
    sources: summaries.sources.rows,
    searches: mergeSummaries(searches, MAX_ROWS).rows,
  };
}

function toCountedQueries({ snapshot }: ReplicaSample): CountedQueries {
  const { queries, lost, searched, sampling, unlisted } = snapshot;
  return {
    queries,
    lost,
    searched,
    sampling,
    summaries: eachDimension((dimension) => ({
      rows: snapshot[dimension],
      unlisted: unlisted[dimension],
    })),
  };
}

/** Rows of `failures` are a cause, a name and a type. Counts are those that are certain. */
export function groupFailures(samples: readonly ReplicaSample[]): readonly FailureGroup[] {
  const groups = new Map<string, { count: number; names: FailureGroup['names'][number][] }>();
  const { failures } = mergeCounts(samples.map(toCountedQueries), MAX_ROWS).summaries;
  for (const row of failures.rows) {
    const [cause = '', name = '', type = ''] = row.what.split(' ');
    const count = atLeast(row);
    const group = groups.get(cause) ?? { count: 0, names: [] };
    groups.set(cause, group);
    group.count += count;
    if (group.names.length < MAX_NAMES && name !== '') group.names.push({ name, type, count });
  }
  return Array.from(groups, ([cause, group]) => ({ cause, ...group })).sort(
    (one, other) => other.count - one.count,
  );
}

/** Equal findings of several replicas are one. @param further of replicas together */
export function mergeFindings(
  diagnoses: readonly { readonly replica: string; readonly diagnosis: Diagnosis }[],
  further: readonly ReplicaFinding[] = [],
): readonly ReplicaFinding[] {
  const found = new Map<string, ReplicaFinding & { replicas: string[] }>();
  for (const { replica, diagnosis } of diagnoses)
    for (const finding of diagnosis.findings) {
      const key = `${finding.kind} ${finding.subject}`;
      const known = found.get(key);
      if (known === undefined) found.set(key, { ...finding, replicas: [replica] });
      else if (!known.replicas.includes(replica)) known.replicas.push(replica);
    }
  const rank = ({ severity }: ReplicaFinding) => (severity === 'problem' ? 0 : 1);
  return [...found.values(), ...further].sort((one, other) => rank(one) - rank(other));
}

/** The word and the sentence of the first page. */
export function judgeHealth(
  replicas: readonly ReplicaState[],
  findings: readonly ReplicaFinding[],
  traffic: Traffic,
): Omit<Health, 'since'> {
  const asked = replicas.filter(({ status }) => status !== undefined);
  if (asked.length === 0)
    return {
      word: 'unknown',
      sentence: replicas.length === 0 ? 'No replica was found' : 'No replica has answered the dashboard yet',
    };
  const ready = asked.filter(({ status }) => status?.ready === true);
  if (ready.length === 0) return { word: 'broken', sentence: 'No replica is ready' };
  const failed = sumCounts(traffic.rcodes, isFailure);
  const share = traffic.queries < MIN_QUERIES ? 0 : failed / traffic.queries;
  const percent = `${(share * 100).toFixed(1)} % of queries failed in the last minute`;
  if (share >= BROKEN_FROM) return { word: 'broken', sentence: percent };
  const problem = findings.find(({ severity }) => severity === 'problem');
  if (problem !== undefined) return { word: 'degraded', sentence: problem.sentence };
  if (ready.length < replicas.length)
    return { word: 'degraded', sentence: `${ready.length} of ${replicas.length} replicas are ready` };
  if (share >= DEGRADED_FROM) return { word: 'degraded', sentence: percent };
  return { word: 'healthy', sentence: 'All replicas are ready, and no check found a problem' };
}
