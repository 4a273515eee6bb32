/**
 * All metrics, in output order.
 */
import { countRejectedItems } from '@portolan/kernel/base/item-guard.ts';
import { one, type Sample } from '@portolan/kernel/base/metrics/family.ts';
import { CLUSTER_METRICS } from './cluster.ts';
import { ETCD_METRICS } from './etcd.ts';
import { FILE_METRICS } from './files.ts';
import { FINDING_METRICS } from './findings.ts';
import { type Metric, seconds } from './metric.ts';
import { PROCESS_METRICS } from './process.ts';
import { QUERY_METRICS } from './queries.ts';
import { RESOLVER_HISTOGRAMS, RESOLVER_METRICS } from './resolver.ts';
import { SOCKET_METRICS } from './sockets.ts';

const TABLE_METRICS: readonly Metric[] = [
  {
    type: 'gauge',
    name: 'portolan_table_entries',
    help: 'Entries of the answer table: names of our zones, records of clusters, and cached answers.',
    labels: ['kind'],
    read: (stats) => [
      [{ kind: 'name' }, stats.table.nodes],
      [{ kind: 'record' }, stats.table.records],
      [{ kind: 'cached' }, stats.table.cached],
    ],
  },
  {
    type: 'gauge',
    name: 'portolan_table_bytes',
    help: 'Bytes of those entries, and of all memory that the table has ever used.',
    labels: ['kind'],
    read: (stats) => [
      [{ kind: 'name' }, stats.table.nodeOctets],
      [{ kind: 'record' }, stats.table.recordOctets],
      [{ kind: 'cached' }, stats.table.cachedOctets],
      [{ kind: 'touched' }, stats.table.touchedOctets],
    ],
  },
];

const PROGRAM_METRICS: readonly Metric[] = [
  {
    type: 'gauge',
    name: 'portolan_code_caches',
    help: 'Bundles of the program by the state of their V8 code caches. rejected: made with another version or other flags of Node.js.',
    labels: ['state'],
    read: ({ codeCaches = {} }) =>
      Object.entries(codeCaches).map(([state, count]): Sample => [{ state }, count]),
  },
];

const ITEM_METRICS: readonly Metric[] = [
  {
    type: 'counter',
    name: 'portolan_rejected_items_total',
    help: 'Keys, objects, files and lines that were passed over, by source and reason.',
    labels: ['source', 'reason'],
    read: () => countRejectedItems().map(({ source, reason, count }) => [{ source, reason }, count] as const),
  },
];

const CONFIG_METRICS: readonly Metric[] = [
  {
    type: 'counter',
    name: 'portolan_config_errors_total',
    help: 'Rejected changes of the ConfigMap, by the key that was invalid.',
    labels: ['key'],
    read: ({ config }) => Array.from(config?.errors ?? [], ([key, count]) => [{ key }, count] as const),
  },
  {
    type: 'gauge',
    name: 'portolan_config_last_good',
    help: '1 while the last good settings are used because the ConfigMap is invalid, else 0.',
    labels: [],
    read: ({ config }) => one(config && Number(config.isLastGood)),
  },
  {
    type: 'counter',
    name: 'portolan_config_changes_total',
    help: 'Applied changes of the ConfigMap, the first reading included.',
    labels: [],
    read: ({ config }) => one(config?.changes),
  },
  {
    type: 'gauge',
    name: 'portolan_config_timestamp_seconds',
    help: 'Time of the last applied change, in seconds since the epoch.',
    labels: [],
    read: ({ config }) => one(seconds(config?.changedAt)),
  },
];

export const METRICS: readonly Metric[] = [
  ...QUERY_METRICS,
  ...TABLE_METRICS,
  ...RESOLVER_METRICS,
  ...CLUSTER_METRICS,
  ...ETCD_METRICS,
  ...SOCKET_METRICS,
  ...FILE_METRICS,
  ...ITEM_METRICS,
  ...CONFIG_METRICS,
  ...FINDING_METRICS,
  ...PROGRAM_METRICS,
  ...PROCESS_METRICS,
  ...RESOLVER_HISTOGRAMS,
];
