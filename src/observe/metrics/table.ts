/**
 * Metrics of the answer table: its contents.
 */
import type { Metric } from './metric.ts';

export const TABLE_METRICS: readonly Metric[] = [
  {
    kind: 'gauge',
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
    kind: 'gauge',
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
