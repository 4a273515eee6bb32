/**
 * The answer table: how much is in it.
 */
import type { Metric } from './metric.ts';

export const TABLE_METRICS: readonly Metric[] = [
  {
    kind: 'gauge',
    name: 'portolan_table_entries',
    help: 'Entries of the answer table: names of our zones, and cached answers.',
    labels: ['kind'],
    read: (figures) => [
      [{ kind: 'name' }, figures.table.nodes],
      [{ kind: 'cached' }, figures.table.cached],
    ],
  },
  {
    kind: 'gauge',
    name: 'portolan_table_bytes',
    help: 'Octets of those entries, and of all memory that the table has ever touched.',
    labels: ['kind'],
    read: (figures) => [
      [{ kind: 'name' }, figures.table.nodeOctets],
      [{ kind: 'cached' }, figures.table.cachedOctets],
      [{ kind: 'touched' }, figures.table.touchedOctets],
    ],
  },
];
