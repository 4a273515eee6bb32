/**
 * The sidecar's metrics, with the names that dashboards and alerts use.
 */
import {
  distributionSamples,
  type MetricFamily,
  type Sample,
  singleFamily,
} from '@portolan/kernel/base/metrics/family.ts';
import { DROP_REASONS, type DropCounts } from '@portolan/server/observe/http-connections.ts';
import { HTTP_DROPS } from '@portolan/server/observe/metrics/sockets.ts';
import type { CountName, DnsmasqCacheCounts } from './cache-counts.ts';
import type { Probe } from './probe.ts';

/** The last part of the metric's name and its help text, for each count of dnsmasq. */
const COUNT_METRICS: readonly (readonly [count: CountName, name: string, help: string])[] = [
  ['hits', 'hits', 'Number of DNS cache hits (from start of process)'],
  ['misses', 'misses', 'Number of DNS cache misses (from start of process)'],
  ['evictions', 'evictions', 'Counter of DNS cache evictions (from start of process)'],
  ['insertions', 'insertions', 'Counter of DNS cache insertions (from start of process)'],
  ['cachesize', 'max_size', 'Maximum size of the DNS cache'],
];

/** @param namespace prefix of the names; may be empty */
export function sidecarFamilies(
  namespace: string,
  probes: readonly Probe[],
  counts: DnsmasqCacheCounts,
): readonly MetricFamily[] {
  const prefix = namespace === '' ? '' : `${namespace}_`;
  const families = [countFamilies(`${prefix}dnsmasq`, counts)];
  for (const probe of probes) families.push(probeFamilies(`${prefix}probe_${probe.plan.label}`, probe));
  return families.flat();
}

function countFamilies(prefix: string, counts: DnsmasqCacheCounts): readonly MetricFamily[] {
  return [
    ...COUNT_METRICS.map(([count, name, help]) =>
      singleFamily('counter', `${prefix}_${name}`, help, counts.total(count)),
    ),
    singleFamily(
      'counter',
      `${prefix}_errors`,
      'Number of errors that have occurred getting metrics',
      counts.errors,
    ),
  ];
}

function probeFamilies(prefix: string, { plan, errors, latencies }: Probe): readonly MetricFamily[] {
  return [
    singleFamily(
      'counter',
      `${prefix}_errors`,
      `Count of errors in name resolution of ${plan.label}`,
      errors,
    ),
    {
      name: `${prefix}_latency_ms`,
      help: `Latency of the DNS probe request ${plan.label}`,
      type: 'histogram',
      read: () => distributionSamples({}, latencies),
    },
  ];
}

/** The connections that the sidecar's own port has closed, with the metric name of the server. */
export function dropsFamily(drops: DropCounts): MetricFamily {
  const read = () => DROP_REASONS.map((reason): Sample => [{ reason }, drops[reason]]);
  return { name: HTTP_DROPS.name, help: HTTP_DROPS.help, type: 'counter', read };
}
