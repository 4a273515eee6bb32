/**
 * Metrics of settings that change at run time: the ConfigMap of kube-dns.
 */
import { type Metric, one, seconds } from './metric.ts';

export const CONFIG_METRICS: readonly Metric[] = [
  {
    kind: 'counter',
    name: 'portolan_config_errors_total',
    help: 'Rejected changes of the ConfigMap, by the key that was invalid.',
    labels: ['key'],
    read: ({ config }) => Array.from(config?.errors ?? [], ([key, count]) => [{ key }, count] as const),
  },
  {
    kind: 'gauge',
    name: 'portolan_config_last_good',
    help: '1 while the last good settings are used because the ConfigMap is invalid, else 0.',
    labels: [],
    read: ({ config }) => one(config && Number(config.isLastGood)),
  },
  {
    kind: 'counter',
    name: 'portolan_config_changes_total',
    help: 'Applied changes of the ConfigMap, the first reading included.',
    labels: [],
    read: ({ config }) => one(config?.changes),
  },
  {
    kind: 'gauge',
    name: 'portolan_config_timestamp_seconds',
    help: 'Time of the last applied change, in seconds since the epoch.',
    labels: [],
    read: ({ config }) => one(seconds(config?.changedAt)),
  },
];
