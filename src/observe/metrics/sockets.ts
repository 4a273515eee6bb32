/**
 * Sockets and threads: what came, what went, what was lost.
 */
import type { Figures } from '../figures.ts';
import { type Metric, one } from './metric.ts';

const sumOfReaders =
  (field: 'batches' | 'packets' | 'cut' | 'faults' | 'refused' | 'blocked' | 'receiveErrors') =>
  (figures: Figures) =>
    one(figures.udp?.readers.reduce((sum, reader) => sum + reader[field], 0));

export const SOCKET_METRICS: readonly Metric[] = [
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
