/**
 * The families of Go's run time that dashboards of CoreDNS read, with the nearest figures of Node.js.
 */
import { readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { type MetricFamily, type Sample, singleFamily } from '@portolan/kernel/base/metrics/family.ts';

const QUANTILES = [0, 0.25, 0.5, 0.75, 1];
/** Collections that the quantiles are about. */
const MAX_PAUSES = 256;
const MILLISECONDS = 1000;

/** Notes pauses for garbage collection from its creation on. */
export class GoRuntimeMetrics {
  /** Seconds, the latest last. */
  readonly #pauses: number[] = [];
  #sum = 0;
  #count = 0;
  #last = 0;

  constructor() {
    const observer = new PerformanceObserver((list) => {
      for (const { duration, startTime } of list.getEntries()) this.#note(duration / MILLISECONDS, startTime);
    });
    observer.observe({ entryTypes: ['gc'] });
  }

  /** Families of now. */
  families(): readonly MetricFamily[] {
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    return [
      singleFamily(
        'gauge',
        'go_goroutines',
        'Resources that keep the event loop busy.',
        process.getActiveResourcesInfo().length,
      ),
      singleFamily('gauge', 'go_threads', 'Threads of the process.', readStatus('Threads') ?? 0),
      {
        name: 'go_info',
        help: 'The run time.',
        type: 'gauge',
        read: () => [[{ version: `node ${process.version}` }, 1]],
      },
      this.#pauseFamily(),
      singleFamily('gauge', 'go_memstats_alloc_bytes', 'Octets of the heap in use.', heapUsed),
      singleFamily('gauge', 'go_memstats_heap_alloc_bytes', 'Octets of the heap in use.', heapUsed),
      singleFamily('gauge', 'go_memstats_heap_inuse_bytes', 'Octets of the heap in use.', heapUsed),
      singleFamily(
        'gauge',
        'go_memstats_heap_idle_bytes',
        'Octets of the heap that are free.',
        heapTotal - heapUsed,
      ),
      singleFamily('gauge', 'go_memstats_heap_sys_bytes', 'Octets of the heap.', heapTotal),
      singleFamily(
        'gauge',
        'go_memstats_other_sys_bytes',
        'Octets outside the heap that it refers to.',
        external,
      ),
      singleFamily('gauge', 'go_memstats_sys_bytes', 'Resident octets.', rss),
      singleFamily(
        'gauge',
        'go_memstats_next_gc_bytes',
        'Octets at which the heap is full.',
        getHeapStatistics().heap_size_limit,
      ),
      singleFamily(
        'gauge',
        'go_memstats_last_gc_time_seconds',
        'Time of the last garbage collection, in seconds since 1970.',
        this.#last,
      ),
      ...networkFamilies(),
    ];
  }

  #note(seconds: number, startTime: number): void {
    this.#sum += seconds;
    this.#count += 1;
    this.#last = (performance.timeOrigin + startTime) / MILLISECONDS + seconds;
    this.#pauses.push(seconds);
    if (this.#pauses.length > MAX_PAUSES) this.#pauses.shift();
  }

  #pauseFamily(): MetricFamily {
    const sorted = this.#pauses.toSorted((a, b) => a - b);
    const samples = QUANTILES.map((quantile): Sample => {
      const pause = sorted[Math.round(quantile * (sorted.length - 1))] ?? 0;
      return [{ quantile: String(quantile) }, pause];
    });
    samples.push([{}, this.#sum, '_sum'], [{}, this.#count, '_count']);
    return {
      name: 'go_gc_duration_seconds',
      help: 'Pauses for garbage collection.',
      type: 'summary',
      read: () => samples,
    };
  }
}

/** Octets of all processes of the network namespace, as Go's collector counts them; and the limit of addresses. */
function networkFamilies(): readonly MetricFamily[] {
  const limit = /^Max address space\s+(\S+)/m.exec(readProc('limits'))?.[1];
  return [
    singleFamily(
      'counter',
      'process_network_receive_bytes_total',
      'Octets received by the network namespace.',
      readNetstat('InOctets'),
    ),
    singleFamily(
      'counter',
      'process_network_transmit_bytes_total',
      'Octets sent by the network namespace.',
      readNetstat('OutOctets'),
    ),
    singleFamily(
      'gauge',
      'process_virtual_memory_max_bytes',
      'Maximum octets of addresses; -1: no limit.',
      limit === 'unlimited' ? -1 : readNumber(limit),
    ),
  ];
}

/** A column of the row `IpExt`, whose names are in a row of their own. */
function readNetstat(column: string): number | undefined {
  const [names, values] = [...readProc('net/netstat').matchAll(/^IpExt: (.*)$/gm)].map(([, row = '']) =>
    row.split(' '),
  );
  const value = values?.[names?.indexOf(column) ?? -1];
  return value === undefined ? undefined : Number(value);
}

function readStatus(field: string): number | undefined {
  const [, value] = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readProc('status')) ?? [];
  return value === undefined ? undefined : Number(value);
}

const readNumber = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

/** Empty where the system has no such file. */
function readProc(file: string): string {
  try {
    return readFileSync(`/proc/self/${file}`, 'utf8');
  } catch {
    return '';
  }
}
