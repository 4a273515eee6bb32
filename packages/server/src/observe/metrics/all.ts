/**
 * All metrics, in output order.
 */
import { CLUSTER_METRICS } from './cluster.ts';
import { ETCD_METRICS } from './etcd.ts';
import { FILE_METRICS } from './files.ts';
import { FINDING_METRICS } from './findings.ts';
import type { Metric } from './metric.ts';
import { PROCESS_METRICS, PROGRAM_METRICS } from './process.ts';
import { QUERY_METRICS } from './queries.ts';
import { RESOLVER_HISTOGRAMS, RESOLVER_METRICS } from './resolver.ts';
import { SOCKET_METRICS } from './sockets.ts';

export const METRICS: readonly Metric[] = [
  ...QUERY_METRICS,
  ...RESOLVER_METRICS,
  ...CLUSTER_METRICS,
  ...ETCD_METRICS,
  ...SOCKET_METRICS,
  ...FILE_METRICS,
  ...FINDING_METRICS,
  ...PROGRAM_METRICS,
  ...PROCESS_METRICS,
  ...RESOLVER_HISTOGRAMS,
];
