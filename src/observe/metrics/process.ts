/**
 * The process as a whole, under the names that every exporter has for it.
 */
import { type Metric, one, type Sample } from './metric.ts';

/** They need no figures of a server: other programs show them too. */
export const PROCESS_METRICS: readonly (Metric & { readonly read: () => Iterable<Sample> })[] = [
  {
    kind: 'counter',
    name: 'process_cpu_seconds_total',
    help: 'Processor time of all threads.',
    labels: [],
    read: () => {
      const { user, system } = process.cpuUsage();
      return one((user + system) / 1e6);
    },
  },
  {
    kind: 'gauge',
    name: 'process_resident_memory_bytes',
    help: 'Memory in use, as the system counts it.',
    labels: [],
    read: () => one(process.memoryUsage.rss()),
  },
  {
    kind: 'gauge',
    name: 'process_start_time_seconds',
    help: 'When the process was started, in seconds since the epoch.',
    labels: [],
    read: () => one(performance.timeOrigin / 1000),
  },
];
