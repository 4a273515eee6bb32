/**
 * The metrics of SkyDNS, the server inside kube-dns, under the names that existing dashboards and alerts use.
 *
 * As in SkyDNS, a series appears with its first event and a metric with its first series.
 */
import { RCODE } from '@portolan/dns/types.ts';
import {
  type Distribution,
  distributionSamples,
  type MetricFamily,
  type Sample,
} from '@portolan/kernel/base/metrics/family.ts';
import { CHAIN_OUTCOME } from '@portolan/kernel/chain/outcomes.ts';
import { DURATION_BOUNDS, SIZE_BOUNDS } from '@portolan/kernel/table/counted.ts';
import type { AnswerGroup, QueryCounts } from '@portolan/kernel/table/counter-sums.ts';
import { NO_OUTCOME } from '@portolan/kernel/table/outcomes.ts';
import { OUTCOME } from '@portolan/kubernetes/names/outcomes.ts';

export interface SkyDnsNames {
  /** The first two parts of each name; empty parts are left out. */
  readonly namespace: string;
  readonly subsystem: string;
}

/** The kind of name in a query: in the cluster domain, a reverse name, or any other. In alphabetical order. */
const SYSTEMS = ['auth', 'recursive', 'reverse'] as const;
type System = (typeof SYSTEMS)[number];

/** Outcomes of names in the cluster domain. */
const OURS: ReadonlySet<number> = new Set([
  ...Object.values(OUTCOME).filter((id) => id !== OUTCOME.reverse),
  CHAIN_OUTCOME.ours,
]);

/** The last part of the name, the meaning and the type of each metric. */
export const SKYDNS_METRICS = {
  cacheMisses: [
    'dns_cachemiss_count_total',
    'Counter of DNS requests that result in a cache miss.',
    'counter',
  ],
  errors: ['dns_error_count_total', 'Counter of DNS requests resulting in an error.', 'counter'],
  requests: ['dns_request_count_total', 'Counter of DNS requests made.', 'counter'],
  durations: [
    'dns_request_duration_seconds',
    'Histogram of the time (in seconds) each request took to resolve.',
    'histogram',
  ],
  sizes: ['dns_response_size_bytes', 'Size of the returns response in bytes.', 'histogram'],
} as const;

/** These counts as families. */
export function skyDnsFamilies(names: SkyDnsNames, { groups }: QueryCounts): readonly MetricFamily[] {
  const systems = SYSTEMS.map((system) => [system, groups.filter(isOfSystem(system))] as const).filter(
    ([, own]) => own.length > 0,
  );
  return [
    family(names, 'cacheMisses', cacheMisses(groups)),
    family(
      names,
      'requests',
      systems.map(([system, own]) => [{ system }, total(own.map(({ count }) => count))]),
    ),
    family(
      names,
      'errors',
      errorCauses().flatMap(([cause, countErrors]) =>
        systems
          .map(([system, own]) => [{ cause, system }, total(own.map(countErrors))] as const)
          .filter(([, count]) => count > 0),
      ),
    ),
    family(
      names,
      'durations',
      systems.flatMap(([system, own]) => makeSeries(system, durations(own))),
    ),
    family(
      names,
      'sizes',
      systems.flatMap(([system, own]) => makeSeries(system, sizes(own))),
    ),
  ];
}

function family(
  { namespace, subsystem }: SkyDnsNames,
  metric: keyof typeof SKYDNS_METRICS,
  samples: readonly Sample[],
): MetricFamily {
  const [lastPart, help, type] = SKYDNS_METRICS[metric];
  const name = [namespace, subsystem, lastPart].filter((part) => part !== '').join('_');
  return { name, help, type, read: () => samples };
}

/** SkyDNS, like all of Go, writes `le` last. */
const makeSeries = (system: System, distribution: Distribution): readonly Sample[] =>
  distributionSamples({ system }, distribution, (le) => ({ system, le }));

const isOfSystem = (system: System) => (group: AnswerGroup) => toSystem(group) === system;

/** The system of an answer group; undefined for packets that were not queries. */
function toSystem({ outcome, pointers }: AnswerGroup): System | undefined {
  if (outcome === NO_OUTCOME) return undefined;
  if (OURS.has(outcome)) return 'auth';
  return pointers ? 'reverse' : 'recursive';
}

/** Queries for our domain that the table passed to the handler chain. */
function cacheMisses(groups: readonly AnswerGroup[]): readonly Sample[] {
  const ours = groups.filter(isOfSystem('auth'));
  const missed = ours.filter(({ outcome }) => outcome === CHAIN_OUTCOME.ours);
  if (ours.length === 0) return [];
  return [[{ cache: 'response' }, total(missed.map(({ count }) => count))]];
}

/** In alphabetical order. */
function errorCauses(): readonly (readonly [cause: string, countAnswers: (group: AnswerGroup) => number])[] {
  const withCode = (rcode: number) => (group: AnswerGroup) => group.byRcode[rcode] ?? 0;
  return [
    ['nxdomain', withCode(RCODE.NXDOMAIN)],
    ['refused', withCode(RCODE.REFUSED)],
    ['servfail', withCode(RCODE.SERVFAIL)],
    ['truncated', ({ truncated }) => truncated],
  ];
}

function durations(groups: readonly AnswerGroup[]): Distribution {
  const each = groups.map((group) => group.durations);
  const sum = total(groups.map(({ milliseconds }) => milliseconds)) / 1000;
  return distribution(
    DURATION_BOUNDS.map((bound) => bound / 1000),
    each,
    sum,
  );
}

function sizes(groups: readonly AnswerGroup[]): Distribution {
  const each = groups.map((group) => group.sizes);
  return distribution(SIZE_BOUNDS, each, total(groups.map(({ octets }) => octets)));
}

/** @param counts of each group, per bound and above the last one */
function distribution(
  bounds: readonly number[],
  counts: readonly (readonly number[])[],
  sum: number,
): Distribution {
  let below = 0;
  const buckets = bounds.map((bound, index) => {
    below += total(counts.map((of) => of[index] ?? 0));
    return [bound, below] as const;
  });
  return { buckets, sum, count: total(counts.map(total)) };
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
