/**
 * Metrics of queries and answers: of the answer table and the handler chain.
 */
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { one } from '@portolan/kernel/base/metrics/family.ts';
import { METRICS_NAMES } from '@portolan/kubernetes/names/outcomes.ts';
import { LOCAL_OUTCOME } from '@portolan/sources/local/outcome.ts';
import type { Metric } from './metric.ts';

export const QUERY_METRICS: readonly Metric[] = [
  {
    type: 'counter',
    name: 'portolan_dns_queries_total',
    help: 'Queries answered, by type of question and response code.',
    labels: ['type', 'rcode'],
    read: (stats) =>
      stats.queries.byTypeAndRcode.map(({ type, rcode, count }) => [
        { type: type === undefined ? 'other' : typeName(type), rcode: rcodeName(rcode) },
        count,
      ]),
  },
  {
    type: 'counter',
    name: 'portolan_dns_hits_total',
    help: 'Queries answered from the table, by what the name stands for.',
    labels: ['name'],
    read: (stats) =>
      [...METRICS_NAMES, [LOCAL_OUTCOME, 'local'] as const].map(([id, name]) => [
        { name },
        stats.queries.byOutcome.get(id) ?? 0,
      ]),
  },
  {
    type: 'counter',
    name: 'portolan_slow_path_queries_total',
    formerName: 'portolan_slow_questions_total',
    help: 'Queries over UDP that the table left to the handler chain on the main thread.',
    labels: [],
    read: (stats) => one(stats.udp?.slow.asked),
  },
  {
    type: 'counter',
    name: 'portolan_internal_errors_total',
    help: 'Queries answered SERVFAIL because of an internal error. Report any value but 0.',
    labels: [],
    read: ({ udp, tcp }) => {
      const readers = udp?.readers.reduce((sum, reader) => sum + reader.faults, 0) ?? 0;
      return one(readers + (udp?.slow.faults ?? 0) + (tcp?.faults ?? 0));
    },
  },
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
