/**
 * Metrics of the process, under the standard names of exporters.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { maxDescriptors } from '@portolan/kernel/base/descriptors.ts';
import { countLostLines } from '@portolan/kernel/base/log-output.ts';
import { type MetricFamily, one, type Sample } from '@portolan/kernel/base/metrics/family.ts';
import type { Metric } from './metric.ts';

/** These metrics do not need a server's statistics, so other programs have them too. */
export const PROCESS_METRICS: readonly (Metric & { readonly read: () => Iterable<Sample> })[] = [
  {
    type: 'counter',
    name: 'process_cpu_seconds_total',
    help: 'CPU time of all threads.',
    labels: [],
    read: () => {
      const { user, system } = process.cpuUsage();
      return one((user + system) / 1e6);
    },
  },
  {
    type: 'gauge',
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    labels: [],
    read: () => one(process.memoryUsage.rss()),
  },
  {
    type: 'gauge',
    name: 'process_virtual_memory_bytes',
    help: 'Virtual memory, reserved memory that was never used included.',
    labels: [],
    read: () => one(virtualMemory()),
  },
  {
    type: 'gauge',
    name: 'process_open_fds',
    help: 'Open file descriptors.',
    labels: [],
    read: () => one(openDescriptors()),
  },
  {
    type: 'gauge',
    name: 'process_max_fds',
    help: 'Maximum number of open file descriptors.',
    labels: [],
    read: () => one(maxDescriptors()),
  },
  {
    type: 'gauge',
    name: 'process_start_time_seconds',
    help: 'Start time of the process, in seconds since the epoch.',
    labels: [],
    read: () => one(performance.timeOrigin / 1000),
  },
  {
    type: 'counter',
    name: 'portolan_log_lines_lost_total',
    help: 'Lines of the log that could not be written: a closed or full pipe, a full disk.',
    labels: [],
    read: () => one(countLostLines()),
  },
];

/** Of the server's own program. */
export const PROGRAM_METRICS: readonly Metric[] = [
  {
    type: 'gauge',
    name: 'portolan_code_caches',
    help: 'Bundles of the program by the state of their V8 code caches. rejected: made with another version or other flags of Node.js.',
    labels: ['state'],
    read: ({ codeCaches = {} }) =>
      Object.entries(codeCaches).map(([state, count]): Sample => [{ state }, count]),
  },
];

/** Which build this is. */
export function buildFamily(version: string): MetricFamily {
  return {
    name: 'portolan_build_info',
    help: 'Always 1: the labels say which build this is.',
    type: 'gauge',
    read: () => [[{ version, node: process.version }, 1]],
  };
}

function virtualMemory(): number | undefined {
  const [, kibibytes] = /^VmSize:\s+(\d+) kB$/m.exec(readProcessFile('status')) ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

function openDescriptors(): number | undefined {
  try {
    // One descriptor belongs to this directory listing.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}

/** Empty if the system has no such file. */
function readProcessFile(name: string): string {
  try {
    return readFileSync(`/proc/self/${name}`, 'utf8');
  } catch {
    return '';
  }
}
