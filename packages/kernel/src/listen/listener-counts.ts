/**
 * The counts of several listeners together.
 */
import { END_REASONS, type EndReason } from './served-connection.ts';
import type { TcpCounts } from './tcp.ts';
import type { UdpCounts } from './udp-listener.ts';

/** Readers are listed one after the other. */
export function sumUdpCounts(counts: readonly UdpCounts[]): UdpCounts {
  const sum = (read: (count: UdpCounts) => number): number => counts.reduce((all, one) => all + read(one), 0);
  return {
    readers: counts.flatMap(({ readers }) => readers),
    down: sum(({ down }) => down),
    restarts: sum(({ restarts }) => restarts),
    kernelDrops: sum(({ kernelDrops }) => kernelDrops),
    slow: {
      asked: sum(({ slow }) => slow.asked),
      unanswered: sum(({ slow }) => slow.unanswered),
      faults: sum(({ slow }) => slow.faults),
      unsent: sum(({ slow }) => slow.unsent),
      limited: sum(({ slow }) => slow.limited),
      dropped: sum(({ slow }) => slow.dropped),
      expired: sum(({ slow }) => slow.expired),
      late: sum(({ slow }) => slow.late),
    },
  };
}

export function sumTcpCounts(counts: readonly TcpCounts[]): TcpCounts {
  const sum = (read: (count: TcpCounts) => number): number => counts.reduce((all, one) => all + read(one), 0);
  const ended = END_REASONS.map((reason) => [reason, sum((count) => count.ended[reason])]);
  return {
    open: sum(({ open }) => open),
    accepted: sum(({ accepted }) => accepted),
    rejected: sum(({ rejected }) => rejected),
    heldOctets: sum(({ heldOctets }) => heldOctets),
    queries: sum(({ queries }) => queries),
    // The list has every reason.
    ended: Object.fromEntries(ended) as Record<EndReason, number>,
    faults: sum(({ faults }) => faults),
    unaccepted: sum(({ unaccepted }) => unaccepted),
    expired: sum(({ expired }) => expired),
  };
}
