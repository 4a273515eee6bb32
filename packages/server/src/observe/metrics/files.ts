/**
 * Metrics of files: the query log, manifests and the snapshot.
 */
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
];
