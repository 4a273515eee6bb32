/**
 * All metrics: their names, what they mean, and which figure they show.
 *
 * A figure that is not to be had now has no sample: an absent value is not a zero.
 */
import { METRICS_NAMES } from '../kube/metrics-ids.ts';
import { rcodeName, typeName } from '../wire/mnemonics.ts';
import type { Figures, WatchFigures } from './figures.ts';

export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

export interface Metric {
  readonly kind: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly read: (figures: Figures) => Iterable<Sample>;
}

const WATCH_STATES = ['idle', 'listing', 'watching', 'waiting'] as const;

/** One value without labels, or none. */
const one = (value: number | undefined): readonly Sample[] => (value === undefined ? [] : [[{}, value]]);

const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000;

const perWatch = (read: (watch: WatchFigures) => number | undefined) => (figures: Figures) =>
  figures.watches.flatMap((watch): readonly Sample[] => {
    const value = read(watch);
    return value === undefined ? [] : [[{ kind: watch.title }, value]];
  });

const sumOfReaders =
  (field: 'batches' | 'packets' | 'cut' | 'faults' | 'refused' | 'blocked' | 'receiveErrors') =>
  (figures: Figures) =>
    one(figures.udp?.readers.reduce((sum, reader) => sum + reader[field], 0));

const queries: readonly Metric[] = [
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
      [...METRICS_NAMES].map(([id, name]) => [{ name }, figures.queries.byMetricsId.get(id) ?? 0]),
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

const table: readonly Metric[] = [
  {
    kind: 'gauge',
    name: 'portolan_table_entries',
    help: 'Entries of the answer table: names of our zones, and cached answers.',
    labels: ['kind'],
    read: (figures) => [
      [{ kind: 'name' }, figures.table.nodes],
      [{ kind: 'cached' }, figures.table.cached],
    ],
  },
  {
    kind: 'gauge',
    name: 'portolan_table_bytes',
    help: 'Octets of those entries, and of all memory that the table has ever touched.',
    labels: ['kind'],
    read: (figures) => [
      [{ kind: 'name' }, figures.table.nodeOctets],
      [{ kind: 'cached' }, figures.table.cachedOctets],
      [{ kind: 'touched' }, figures.table.touchedOctets],
    ],
  },
];

const cluster: readonly Metric[] = [
  {
    kind: 'gauge',
    name: 'portolan_ready',
    help: '1 when /readyz says so.',
    labels: [],
    read: (figures) => one(figures.ready ? 1 : 0),
  },
  {
    kind: 'gauge',
    name: 'portolan_data_age_seconds',
    help: 'How long ago the data was last known to be what the API server holds.',
    labels: [],
    read: (figures) => one(seconds(figures.dataAge)),
  },
  {
    kind: 'gauge',
    name: 'portolan_watch_state',
    help: '1 for the state that the watch of a kind is in.',
    labels: ['kind', 'state'],
    read: (figures) =>
      figures.watches.flatMap(({ title, state }) =>
        WATCH_STATES.map((each): Sample => [{ kind: title, state: each }, each === state ? 1 : 0]),
      ),
  },
  {
    kind: 'gauge',
    name: 'portolan_watch_age_seconds',
    help: 'How long ago the objects of a kind were last known to be current.',
    labels: ['kind'],
    read: perWatch(({ age }) => seconds(age)),
  },
  {
    kind: 'gauge',
    name: 'portolan_objects',
    help: 'Objects held, by kind.',
    labels: ['kind'],
    read: perWatch(({ objects }) => objects),
  },
  {
    kind: 'counter',
    name: 'portolan_watch_lists_total',
    help: 'How often a kind was listed whole.',
    labels: ['kind'],
    read: perWatch(({ lists }) => lists),
  },
  {
    kind: 'counter',
    name: 'portolan_watch_repairs_total',
    help: 'How often a kind was listed again since what was held was wrong.',
    labels: ['kind'],
    read: perWatch(({ repairs }) => repairs),
  },
  {
    kind: 'counter',
    name: 'portolan_malformed_objects_total',
    help: 'Objects left out since they could not be understood.',
    labels: ['kind'],
    read: perWatch(({ malformed }) => malformed),
  },
];

const sockets: readonly Metric[] = [
  {
    kind: 'gauge',
    name: 'portolan_udp_readers',
    help: 'Threads that answer UDP.',
    labels: [],
    read: (figures) => one(figures.udp?.readers.length),
  },
  {
    kind: 'counter',
    name: 'portolan_reader_restarts_total',
    help: 'Reader threads that died and were replaced.',
    labels: [],
    read: (figures) => one(figures.udp?.restarts),
  },
  {
    kind: 'counter',
    name: 'portolan_udp_packets_total',
    help: 'Packets received by UDP.',
    labels: [],
    read: sumOfReaders('packets'),
  },
  {
    kind: 'counter',
    name: 'portolan_udp_batches_total',
    help: 'Calls of the system that brought packets.',
    labels: [],
    read: sumOfReaders('batches'),
  },
  {
    kind: 'counter',
    name: 'portolan_ring_drops_total',
    help: 'Questions dropped since too many waited for the main thread.',
    labels: [],
    read: (figures) => one(figures.udp?.slow.dropped),
  },
  {
    kind: 'counter',
    name: 'portolan_kernel_drops_total',
    help: 'Packets that the kernel dropped since the queue of a socket was full.',
    labels: [],
    read: (figures) => one(figures.udp?.kernelDrops),
  },
  {
    kind: 'counter',
    name: 'portolan_udp_unsent_total',
    help: 'Answers that could not be sent: refused by the kernel, or its send buffer was full.',
    labels: ['reason'],
    read: ({ udp }) => {
      if (udp === undefined) return [];
      const sum = (field: 'refused' | 'blocked') =>
        udp.readers.reduce((total, reader) => total + reader[field], 0);
      return [
        [{ reason: 'refused' }, sum('refused') + udp.slow.unsent],
        [{ reason: 'blocked' }, sum('blocked')],
      ];
    },
  },
  {
    kind: 'gauge',
    name: 'portolan_tcp_connections',
    help: 'TCP connections that are open.',
    labels: [],
    read: (figures) => one(figures.tcp?.open),
  },
  {
    kind: 'counter',
    name: 'portolan_tcp_accepted_total',
    help: 'TCP connections accepted.',
    labels: [],
    read: (figures) => one(figures.tcp?.accepted),
  },
  {
    kind: 'counter',
    name: 'portolan_tcp_rejected_total',
    help: 'TCP connections closed at once, there being too many.',
    labels: [],
    read: (figures) => one(figures.tcp?.rejected),
  },
  {
    kind: 'counter',
    name: 'portolan_tcp_queries_total',
    help: 'Queries that came by TCP.',
    labels: [],
    read: (figures) => one(figures.tcp?.queries),
  },
];

const files: readonly Metric[] = [
  {
    kind: 'counter',
    name: 'portolan_snapshot_written_total',
    help: 'How often the snapshot file was replaced.',
    labels: [],
    read: (figures) => one(figures.snapshot?.written),
  },
  {
    kind: 'counter',
    name: 'portolan_snapshot_errors_total',
    help: 'How often it could not be written, or used.',
    labels: [],
    read: (figures) => one(figures.snapshot?.errors),
  },
  {
    kind: 'gauge',
    name: 'portolan_snapshot_timestamp_seconds',
    help: 'When it was last replaced, in seconds since the epoch.',
    labels: [],
    read: (figures) => one(seconds(figures.snapshot?.lastWritten)),
  },
  {
    kind: 'gauge',
    name: 'portolan_manifest_files',
    help: 'Manifest files by whether they can be used as they are.',
    labels: ['state'],
    read: ({ manifests }) =>
      manifests === undefined
        ? []
        : [
            [{ state: 'served' }, manifests.files],
            [{ state: 'bad' }, manifests.badFiles],
          ],
  },
];

const processFigures: readonly Metric[] = [
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

export const METRICS: readonly Metric[] = [
  ...queries,
  ...table,
  ...cluster,
  ...sockets,
  ...files,
  ...processFigures,
];
