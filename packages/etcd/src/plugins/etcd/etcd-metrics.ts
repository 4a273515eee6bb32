/**
 * The metrics of the plugin `etcd`, updated when they are shown.
 */
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { EtcdStats } from '../../source/etcd-source.ts';

export interface EtcdLabels {
  readonly server: string;
  /** Separated by spaces. */
  readonly zones: string;
}

const LABELS = ['server', 'zones'] as const;

/** @returns a function that ends it */
export function showEtcdStats(
  metrics: MetricRegistry,
  labels: EtcdLabels,
  stats: () => EtcdStats,
): () => void {
  const keys = metrics.gauge(
    'portolan_etcd_keys',
    'Keys of etcd that are known, by state: records, or bad values.',
    [...LABELS, 'state'],
  );
  const age = metrics.gauge(
    'portolan_etcd_data_age_seconds',
    'Time since the keys were last known to be those of etcd.',
    LABELS,
  );
  const leases = metrics.gauge('portolan_etcd_leases', 'Leases of these keys.', LABELS);
  const reads = metrics.counter(
    'portolan_etcd_reads_total',
    'Times that all keys were read from etcd.',
    LABELS,
  );
  const failures = metrics.counter(
    'portolan_etcd_failures_total',
    'Failed tries to read the keys, or to watch them.',
    LABELS,
  );
  const counted = { reads: 0, failures: 0 };
  const end = metrics.collectBy(() => {
    const now = stats();
    keys.set({ ...labels, state: 'good' }, now.keys - now.badKeys);
    keys.set({ ...labels, state: 'bad' }, now.badKeys);
    if (now.age !== undefined) age.set({ ...labels }, now.age / 1000);
    leases.set({ ...labels }, now.leases);
    reads.inc({ ...labels }, now.reads - counted.reads);
    failures.inc({ ...labels }, now.failures - counted.failures);
    Object.assign(counted, { reads: now.reads, failures: now.failures });
  });
  return () => {
    end();
    for (const state of ['good', 'bad']) keys.remove({ ...labels, state });
    age.remove({ ...labels });
    leases.remove({ ...labels });
  };
}
