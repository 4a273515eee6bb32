/**
 * Metrics of the program's own start.
 */
import type { Metric, Sample } from './metric.ts';

export const PROGRAM_METRICS: readonly Metric[] = [
  {
    kind: 'gauge',
    name: 'portolan_code_caches',
    help: 'Bundles of the program by the state of their V8 code caches. rejected: made with another version or other flags of Node.js.',
    labels: ['state'],
    read: ({ codeCaches = {} }) =>
      Object.entries(codeCaches).map(([state, count]): Sample => [{ state }, count]),
  },
];
