/**
 * Settings that change while the server runs: the ConfigMap of kube-dns.
 */
import { type Metric, one, seconds } from './metric.ts';

export const CONFIG_METRICS: readonly Metric[] = [
  {
    kind: 'counter',
    name: 'portolan_config_errors_total',
    help: 'Changes of the ConfigMap that were not taken in, by the key that was wrong.',
    labels: ['key'],
    read: ({ config }) => Array.from(config?.errors ?? [], ([key, count]) => [{ key }, count] as const),
  },
  {
    kind: 'gauge',
    name: 'portolan_config_last_good',
    help: '1 while the last good settings hold instead of those of the ConfigMap now, which are wrong; else 0.',
    labels: [],
    read: ({ config }) => one(config && Number(config.isLastGood)),
  },
  {
    kind: 'counter',
    name: 'portolan_config_changes_total',
    help: 'Changes of the ConfigMap that were taken in, the first reading included.',
    labels: [],
    read: ({ config }) => one(config?.changes),
  },
  {
    kind: 'gauge',
    name: 'portolan_config_timestamp_seconds',
    help: 'When its settings were last taken in, in seconds since the epoch.',
    labels: [],
    read: ({ config }) => one(seconds(config?.changedAt)),
  },
];
