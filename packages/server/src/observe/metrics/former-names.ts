/**
 * The metrics of CoreDNS under former names and labels, for dashboards that still use them.
 */
import type { MetricFamily, Sample } from '@portolan/kernel/base/metrics/family.ts';
import type { FormerNames } from '../../plan/former-names.ts';

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
  name: `coredns_${name}`,
  of: `coredns_${of}`,
  type: 'counter',
  labels,
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

/** The former families of these. A family that is missing has no samples. */
export function formerFamilies(
  version: FormerNames,
  families: readonly MetricFamily[],
): readonly MetricFamily[] {
  const byName = new Map(families.map((family) => [family.name, family]));
  return FORMER[version].map((former) => ({
    name: former.name,
    help: `Former name of ${former.of}.`,
    type: former.type,
    read: () => formerSamples(former, byName.get(former.of)?.read() ?? []),
  }));
}

function formerSamples(former: Former, samples: Iterable<Sample>): Iterable<Sample> {
  const sums = new Map<string, Sample>();
  for (const sample of samples) {
    const [labels, value, suffix] = sample;
    if (!isPart(former, sample)) continue;
    const shown = [...former.labels, 'le'].flatMap((label): [string, string][] =>
      labels[label] === undefined ? [] : [[label, labels[label]]],
    );
    const shownSuffix = former.type === 'histogram' ? suffix : undefined;
    const key = JSON.stringify([shownSuffix, shown]);
    const [, before] = sums.get(key) ?? [{}, 0];
    sums.set(key, [Object.fromEntries(shown), before + value, shownSuffix]);
  }
  return sums.values();
}

/** A former counter of events is the count of today's histogram. */
function isPart({ type }: Former, [, , suffix]: Sample): boolean {
  return type === 'histogram' || suffix === undefined || suffix === '_count';
}
