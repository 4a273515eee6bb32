/**
 * All metrics, in output order.
 */
import { CLUSTER_METRICS } from './cluster.ts';
import { CONFIG_METRICS } from './config.ts';
import { ETCD_METRICS } from './etcd.ts';
import { FILE_METRICS } from './files.ts';
import { FINDING_METRICS } from './findings.ts';
import { ITEM_METRICS } from './items.ts';
import type { HistogramMetric, Metric } from './metric.ts';
import { PROCESS_METRICS } from './process.ts';
import { PROGRAM_METRICS } from './program.ts';
import { QUERY_METRICS } from './queries.ts';
import { RESOLVER_HISTOGRAMS, RESOLVER_METRICS } from './resolver.ts';
import { SOCKET_METRICS } from './sockets.ts';
import { TABLE_METRICS } from './table.ts';

export const METRICS: readonly Metric[] = [
  ...QUERY_METRICS,
  ...TABLE_METRICS,
  ...RESOLVER_METRICS,
  ...CLUSTER_METRICS,
  ...ETCD_METRICS,
  ...SOCKET_METRICS,
  ...FILE_METRICS,
  ...ITEM_METRICS,
  ...CONFIG_METRICS,
  ...FINDING_METRICS,
  ...PROGRAM_METRICS,
  ...PROCESS_METRICS,
];

export const HISTOGRAMS: readonly HistogramMetric[] = RESOLVER_HISTOGRAMS;
