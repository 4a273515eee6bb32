/**
 * Metrics of sockets and threads: packets, connections, drops and errors.
 */
import { one } from '@portolan/kernel/base/metrics/family.ts';
import type { ReaderCounters } from '@portolan/kernel/listen/reader-counters.ts';
import { DROP_REASONS } from '../http-connections.ts';
import type { Stats } from '../stats.ts';
import type { Metric } from './metric.ts';

const sumOfReaders = (field: keyof ReaderCounters) => (stats: Stats) =>
  one(stats.udp?.readers.reduce((sum, reader) => sum + reader[field], 0));

/** The counter of dropped HTTP connections, in a server and in a sidecar. */
export const HTTP_DROPS = {
  name: 'portolan_http_connections_dropped_total',
  help: 'HTTP connections closed before their requests were answered, by reason.',
};

export const SOCKET_METRICS: readonly Metric[] = [
  {
    type: 'gauge',
    name: 'portolan_udp_readers',
    help: 'Reader threads, which answer UDP.',
    labels: [],
    read: (stats) => one(stats.udp?.readers.length),
  },
  {
    type: 'counter',
    name: 'portolan_reader_restarts_total',
    help: 'Reader threads that died and were replaced.',
    labels: [],
    read: (stats) => one(stats.udp?.restarts),
  },
  {
    type: 'counter',
    name: 'portolan_udp_packets_total',
    help: 'Packets received by UDP.',
    labels: [],
    read: sumOfReaders('packets'),
  },
  {
    type: 'counter',
    name: 'portolan_udp_batches_total',
    help: 'Batches of packets received by UDP.',
    labels: [],
    read: sumOfReaders('batches'),
  },
  {
    type: 'counter',
    name: 'portolan_udp_receive_errors_total',
    help: 'Calls to receive packets by UDP that failed.',
    labels: [],
    read: sumOfReaders('receiveErrors'),
  },
  {
    type: 'counter',
    name: 'portolan_slow_path_dropped_total',
    formerName: 'portolan_ring_drops_total',
    help: 'Queries dropped since too many were pending on the main thread.',
    labels: [],
    read: (stats) => one(stats.udp?.slow.dropped),
  },
  {
    type: 'counter',
    name: 'portolan_slow_path_expired_total',
    help: 'Queries dropped at their turn on the main thread, or answered with SERVFAIL over a stream: they had waited too long.',
    labels: [],
    read: ({ udp, tcp }) => one(udp && udp.slow.expired + (tcp?.expired ?? 0)),
  },
  {
    type: 'counter',
    name: 'portolan_late_answers_total',
    help: 'Answers over UDP that came when their clients did not wait any more: cached where possible, not sent.',
    labels: [],
    read: (stats) => one(stats.udp?.slow.late),
  },
  {
    type: 'counter',
    name: 'portolan_udp_receive_buffer_dropped_total',
    formerName: 'portolan_kernel_drops_total',
    help: 'Packets that the kernel dropped: a receive buffer was full, or their client floods.',
    labels: [],
    read: (stats) => one(stats.udp?.kernelDrops),
  },
  {
    type: 'counter',
    name: 'portolan_udp_shed_total',
    help: 'Packets of the clients that sent most of them, dropped while a receive buffer was filling up.',
    labels: [],
    read: sumOfReaders('shed'),
  },
  {
    type: 'counter',
    name: 'portolan_udp_floods_total',
    help: "Times that the kernel was told to let only a part of a flooding client's packets through.",
    labels: [],
    read: sumOfReaders('floods'),
  },
  {
    type: 'counter',
    name: 'portolan_proxy_headers_rejected_total',
    help: 'Packets and connections dropped since the PROXY header of a proxy was malformed or not allowed.',
    labels: ['transport'],
    read: ({ udp, tcp }) => [
      ...(udp === undefined
        ? []
        : [
            [{ transport: 'udp' }, udp.readers.reduce((sum, { badHeaders }) => sum + badHeaders, 0)] as const,
          ]),
      ...(tcp === undefined ? [] : [[{ transport: 'tcp' }, tcp.ended.header] as const]),
    ],
  },
  {
    type: 'counter',
    name: 'portolan_udp_send_errors_total',
    formerName: 'portolan_udp_unsent_total',
    help: 'Responses not sent: refused by the kernel, or its send buffer was full.',
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
    type: 'counter',
    name: 'portolan_udp_denied_total',
    help: 'Queries by UDP of clients that may not ask (--access-control).',
    labels: [],
    read: sumOfReaders('denied'),
  },
  {
    type: 'counter',
    name: 'portolan_udp_rate_limited_total',
    help: 'Queries and responses by UDP beyond a rate limit.',
    labels: [],
    read: ({ udp }) => one(udp?.readers.reduce((sum, { limited }) => sum + limited, udp.slow.limited)),
  },
  {
    type: 'gauge',
    name: 'portolan_tcp_connections',
    help: 'Open TCP connections.',
    labels: [],
    read: (stats) => one(stats.tcp?.open),
  },
  {
    type: 'counter',
    name: 'portolan_tcp_connections_accepted_total',
    formerName: 'portolan_tcp_accepted_total',
    help: 'TCP connections accepted.',
    labels: [],
    read: (stats) => one(stats.tcp?.accepted),
  },
  {
    type: 'counter',
    name: 'portolan_tcp_connections_rejected_total',
    formerName: 'portolan_tcp_rejected_total',
    help: 'TCP connections closed on arrival since there were too many.',
    labels: [],
    read: (stats) => one(stats.tcp?.rejected),
  },
  {
    type: 'counter',
    name: 'portolan_tcp_queries_total',
    help: 'Queries received by TCP.',
    labels: [],
    read: (stats) => one(stats.tcp?.queries),
  },
  {
    type: 'counter',
    name: HTTP_DROPS.name,
    help: HTTP_DROPS.help,
    labels: ['reason'],
    read: ({ httpDrops }) => DROP_REASONS.map((reason) => [{ reason }, httpDrops[reason]]),
  },
];
