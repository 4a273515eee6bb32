/**
 * Metrics of files and settings: the query log, manifests, the snapshot, items that were passed over, the ConfigMap.
 */
import { countRejectedItems } from '@portolan/kernel/base/item-guard.ts';
import { one } from '@portolan/kernel/base/metrics/family.ts';
import { type Metric, seconds } from './metric.ts';

export const FILE_METRICS: readonly Metric[] = [
  {
    type: 'counter',
    name: 'portolan_query_log_dropped_total',
    help: 'Answered queries left out of the query log, since their ring was full.',
    labels: [],
    read: (stats) => one(stats.queryLog.dropped),
  },
  {
    type: 'counter',
    name: 'portolan_query_log_errors_total',
    help: 'Writes of the query log that failed.',
    labels: [],
    read: (stats) => one(stats.queryLog.failures),
  },
  {
    type: 'counter',
    name: 'portolan_snapshot_writes_total',
    formerName: 'portolan_snapshot_written_total',
    help: 'Snapshots written.',
    labels: [],
    read: (stats) => one(stats.snapshot?.written),
  },
  {
    type: 'counter',
    name: 'portolan_snapshot_errors_total',
    help: 'Snapshots that could not be written or used.',
    labels: [],
    read: (stats) => one(stats.snapshot?.errors),
  },
  {
    type: 'gauge',
    name: 'portolan_snapshot_timestamp_seconds',
    help: 'Time of the last snapshot, in seconds since the epoch.',
    labels: [],
    read: (stats) => one(seconds(stats.snapshot?.lastWritten)),
  },
  {
    type: 'gauge',
    name: 'portolan_snapshot_age_seconds',
    help: 'Time since the state in it was known to be that of the cluster.',
    labels: [],
    read: (stats) => one(stats.snapshot?.age === undefined ? undefined : stats.snapshot.age / 1000),
  },
  {
    type: 'gauge',
    name: 'portolan_manifest_files',
    help: 'Manifest files by state: served, or bad.',
    labels: ['state'],
    read: ({ manifests }) =>
      manifests === undefined
        ? []
        : [
            [{ state: 'served' }, manifests.files],
            [{ state: 'bad' }, manifests.badFiles],
          ],
  },
  {
    type: 'counter',
    name: 'portolan_rejected_items_total',
    help: 'Keys, objects, files and lines that were passed over, by source and reason.',
    labels: ['source', 'reason'],
    read: () => countRejectedItems().map(({ source, reason, count }) => [{ source, reason }, count] as const),
  },
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
