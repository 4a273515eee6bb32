/**
 * Questions and their answers, whichever way they took.
 */
import { METRICS_NAMES } from '../../kube/metrics-ids.ts';
import { LOCAL_METRICS_ID } from '../../sources/local/metrics-id.ts';
import { rcodeName, typeName } from '../../wire/mnemonics.ts';
import { type Metric, one } from './metric.ts';

export const QUERY_METRICS: readonly Metric[] = [
  {
    kind: 'counter',
    name: 'portolan_dns_queries_total',
    help: 'Queries answered, by type of question and response code.',
    labels: ['type', 'rcode'],
    read: (figures) =>
      figures.queries.byTypeAndRcode.map(({ type, rcode, count }) => [
        { type: type === undefined ? 'other' : typeName(type), rcode: rcodeName(rcode) },
        count,
      ]),
  },
  {
    kind: 'counter',
    name: 'portolan_dns_hits_total',
    help: 'Queries answered from the table, by what the name stands for.',
    labels: ['name'],
    read: (figures) =>
      [...METRICS_NAMES, [LOCAL_METRICS_ID, 'local'] as const].map(([id, name]) => [
        { name },
        figures.queries.byMetricsId.get(id) ?? 0,
      ]),
  },
  {
    kind: 'counter',
    name: 'portolan_slow_questions_total',
    help: 'Questions that came by UDP and that the table left to the main thread.',
    labels: [],
    read: (figures) => one(figures.udp?.slow.asked),
  },
  {
    kind: 'counter',
    name: 'portolan_internal_errors_total',
    help: 'Queries answered SERVFAIL by a defect of Portolan. Anything but 0 is worth a report.',
    labels: [],
    read: ({ udp, tcp }) => {
      const readers = udp?.readers.reduce((sum, reader) => sum + reader.faults, 0) ?? 0;
      return one(readers + (udp?.slow.faults ?? 0) + (tcp?.faults ?? 0));
    },
  },
];
