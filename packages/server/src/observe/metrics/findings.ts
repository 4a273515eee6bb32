/**
 * Findings of the server about itself and its cluster.
 */
import { one } from '@portolan/kernel/base/metrics/family.ts';
import type { Metric } from './metric.ts';

/** Namespaces with a series of their own: those that came first, so that no series ends. */
const MAX_NAMESPACES = 200;
const OTHERS = '_other';
/** What a namespace can be called. Clients may ask for anything. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

export const FINDING_METRICS: readonly Metric[] = [
  {
    type: 'gauge',
    name: 'portolan_stale_names',
    help: 'Names that are answered although their source has lost them in a sudden loss.',
    labels: ['source'],
    read: ({ losses }) => losses.map(({ kind: source, stale }) => [{ source }, stale]),
  },
  {
    type: 'counter',
    name: 'portolan_lost_names_total',
    help: 'Names that sources have lost in sudden losses.',
    labels: ['source'],
    read: ({ losses }) => losses.map(({ kind: source, lost }) => [{ source }, lost]),
  },
  {
    type: 'counter',
    name: 'portolan_search_path_misses_total',
    help: 'Names that search lists made and that do not exist, by the namespace of the pod; while statistics are always kept.',
    labels: ['namespace'],
    read({ searches }) {
      const counts = new Map<string, number>();
      for (const [namespace, count] of searches ?? []) {
        const isOwn = counts.size < MAX_NAMESPACES && NAMESPACE.test(namespace);
        const label = isOwn ? namespace : OTHERS;
        counts.set(label, (counts.get(label) ?? 0) + count);
      }
      return Array.from(counts, ([namespace, count]) => [{ namespace }, count] as const);
    },
  },
  {
    type: 'counter',
    name: 'portolan_foreign_domain_denials_total',
    help: 'Cached denials of upstream servers for services in a cluster domain that is not ours.',
    labels: [],
    read: ({ foreignDenials }) => one(foreignDenials),
  },
  {
    type: 'gauge',
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
