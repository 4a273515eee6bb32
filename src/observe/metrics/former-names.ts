/**
 * The metrics of CoreDNS under former names and labels, for dashboards that still use them.
 */
import type { FamilyValue, FamilyValues } from '../../chain/plugin-metrics.ts';
import type { FormerNames } from '../../config/server/former-names.ts';
import { type MetricFamily, type TextSample, writeLabels, writeMetrics } from './text.ts';

interface Former {
  readonly name: string;
  /** The current family. */
  readonly of: string;
  readonly type: MetricFamily['type'];
  /** Its former labels; samples that differ only in other labels are added up. */
  readonly labels: readonly string[];
}

const SITE = ['server', 'zone'];
const TO = ['to'];

const counter = (name: string, of: string, labels: readonly string[] = []): Former => ({
  ...{ name: `coredns_${name}`, of: `coredns_${of}`, type: 'counter', labels },
});

/** Since 1.11, `proxy` counts for `forward` and other plugins. */
const BEFORE_1_11: readonly Former[] = [
  counter('forward_requests_total', 'proxy_request_duration_seconds', TO),
  counter('forward_responses_total', 'proxy_request_duration_seconds', ['to', 'rcode']),
  counter('forward_healthcheck_failures_total', 'proxy_healthcheck_failures_total', TO),
  counter('forward_conn_cache_hits_total', 'proxy_conn_cache_hits_total', ['to', 'proto']),
  counter('forward_conn_cache_misses_total', 'proxy_conn_cache_misses_total', ['to', 'proto']),
  {
    name: 'coredns_forward_request_duration_seconds',
    of: 'coredns_proxy_request_duration_seconds',
    type: 'histogram',
    labels: ['to', 'rcode'],
  },
];

/** CoreDNS 1.7 renamed nearly all metrics. */
const BEFORE_1_7: readonly Former[] = [
  counter('dns_request_count_total', 'dns_requests_total', [...SITE, 'proto', 'family']),
  counter('dns_request_type_count_total', 'dns_requests_total', [...SITE, 'type']),
  counter('dns_request_do_count_total', 'dns_do_requests_total', SITE),
  counter('dns_response_rcode_count_total', 'dns_responses_total', [...SITE, 'rcode']),
  counter('panic_count_total', 'panics_total'),
  { ...counter('cache_size', 'cache_entries', ['server', 'type']), type: 'gauge' },
  counter('forward_request_count_total', 'proxy_request_duration_seconds', TO),
  counter('forward_response_rcode_count_total', 'proxy_request_duration_seconds', ['to', 'rcode']),
  counter('forward_healthcheck_failure_count_total', 'proxy_healthcheck_failures_total', TO),
  counter('forward_healthcheck_broken_count_total', 'forward_healthcheck_broken_total'),
  counter('forward_max_concurrent_reject_count_total', 'forward_max_concurrent_rejects_total'),
  { ...counter('hosts_entries_count', 'hosts_entries'), type: 'gauge' },
  counter('request_block_count_total', 'acl_blocked_requests_total', SITE),
  counter('request_allow_count_total', 'acl_allowed_requests_total', ['server']),
  counter('reload_failed_count_total', 'reload_failed_total'),
  {
    name: 'coredns_forward_request_duration_seconds',
    of: 'coredns_proxy_request_duration_seconds',
    type: 'histogram',
    labels: TO,
  },
];

const FORMER: Readonly<Record<FormerNames, readonly Former[]>> = {
  '1.6': BEFORE_1_7,
  '1.10': BEFORE_1_11,
  '1.14': [],
};

/** Writes Prometheus text format. Families without current samples are left out. */
export function writeFormerNames(version: FormerNames, families: readonly FamilyValues[]): string {
  const byName = new Map(families.map((family) => [family.name, family]));
  return writeMetrics(
    FORMER[version].map((former) => ({
      name: former.name,
      help: `Former name of ${former.of}.`,
      type: former.type,
      samples: samplesOf(former, byName.get(former.of)?.values ?? []),
    })),
  );
}

function samplesOf(former: Former, values: readonly FamilyValue[]): readonly TextSample[] {
  const sums = new Map<string, number>();
  for (const sample of values) {
    const suffix = suffixOf(former, sample);
    if (suffix === undefined) continue;
    const labels = [...former.labels, 'le'].flatMap((label): [string, string][] => {
      const value = sample.labels[label];
      return value === undefined ? [] : [[label, String(value)]];
    });
    const key = suffix + writeLabels(Object.fromEntries(labels));
    sums.set(key, (sums.get(key) ?? 0) + sample.value);
  }
  return [...sums];
}

/** A former counter of events is the count of today's histogram. @returns undefined if the sample is not part of the former family */
function suffixOf({ of, type }: Former, { metricName }: FamilyValue): string | undefined {
  const suffix = metricName === undefined ? '' : metricName.slice(of.length);
  if (type === 'histogram') return suffix;
  return suffix === '' || suffix === '_count' ? '' : undefined;
}
