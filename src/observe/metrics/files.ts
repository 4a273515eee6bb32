/**
 * Files that are read and written: manifests and the snapshot.
 */
import { type Metric, one, seconds } from './metric.ts';

export const FILE_METRICS: readonly Metric[] = [
  {
    kind: 'counter',
    name: 'portolan_snapshot_written_total',
    help: 'How often the snapshot file was replaced.',
    labels: [],
    read: (figures) => one(figures.snapshot?.written),
  },
  {
    kind: 'counter',
    name: 'portolan_snapshot_errors_total',
    help: 'How often it could not be written, or used.',
    labels: [],
    read: (figures) => one(figures.snapshot?.errors),
  },
  {
    kind: 'gauge',
    name: 'portolan_snapshot_timestamp_seconds',
    help: 'When it was last replaced, in seconds since the epoch.',
    labels: [],
    read: (figures) => one(seconds(figures.snapshot?.lastWritten)),
  },
  {
    kind: 'gauge',
    name: 'portolan_manifest_files',
    help: 'Manifest files by whether they can be used as they are.',
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
