/**
 * Findings of the server about itself and its cluster.
 */
import { type Metric, one } from './metric.ts';

export const FINDING_METRICS: readonly Metric[] = [
  {
    kind: 'counter',
    name: 'portolan_foreign_domain_denials_total',
    help: 'Cached denials of upstream servers for services in a cluster domain that is not ours.',
    labels: [],
    read: ({ foreignDenials }) => one(foreignDenials),
  },
  {
    kind: 'gauge',
    name: 'portolan_findings',
    help: 'Current findings by their name; portolan doctor says what they are about.',
    labels: ['finding', 'severity'],
    read({ findings }) {
      const counts = new Map<string, number>();
      for (const { kind, severity } of findings) {
        const key = `${kind} ${severity}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      return Array.from(counts, ([key, count]) => {
        const [finding = '', severity = ''] = key.split(' ');
        return [{ finding, severity }, count] as const;
      });
    },
  },
];
