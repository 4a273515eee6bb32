/**
 * Metrics of names from etcd.
 */
import { one } from '@portolan/kernel/base/metrics/family.ts';
import type { Metric } from './metric.ts';

export const ETCD_METRICS: readonly Metric[] = [
  {
    type: 'gauge',
    name: 'portolan_etcd_keys',
    help: 'Keys of etcd that are known, by state: records, or bad values.',
    labels: ['state'],
    read: ({ etcd }) =>
      etcd === undefined
        ? []
        : [
            [{ state: 'good' }, etcd.keys - etcd.badKeys],
            [{ state: 'bad' }, etcd.badKeys],
          ],
  },
  {
    type: 'gauge',
    name: 'portolan_etcd_data_age_seconds',
    help: 'Time since the keys were last known to be those of etcd.',
    labels: [],
    read: ({ etcd }) => one(etcd?.age === undefined ? undefined : etcd.age / 1000),
  },
  {
    type: 'gauge',
    name: 'portolan_etcd_leases',
    help: 'Leases of these keys.',
    labels: [],
    read: ({ etcd }) => one(etcd?.leases),
  },
  {
    type: 'counter',
    name: 'portolan_etcd_reads_total',
    help: 'Times that all keys were read from etcd.',
    labels: [],
    read: ({ etcd }) => one(etcd?.reads),
  },
  {
    type: 'counter',
    name: 'portolan_etcd_failures_total',
    help: 'Failed tries to read the keys, or to watch them.',
    labels: [],
    read: ({ etcd }) => one(etcd?.failures),
  },
];
