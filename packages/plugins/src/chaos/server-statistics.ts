/**
 * Statistics of each upstream server, with its address in the form of dnsmasq.
 */
import { RCODE } from '@portolan/dns/types.ts';
import type { UpstreamStatistics } from '@portolan/kernel/forward/upstream/upstream-statistics.ts';
import { countAnswered, type QueryCounts } from '@portolan/kernel/table/counter-sums.ts';

export interface ServerStatistics {
  /** `127.0.0.1#53`. */
  readonly server: string;
  readonly queries: number;
  readonly retried: number;
  readonly failed: number;
  readonly nxdomain: number;
  /** Milliseconds. */
  readonly latency: number;
}

/** The number of questions answered without asking upstream. @param asked those that no cache had an answer for */
export function countHits(queries: QueryCounts, asked: number): number {
  return Math.max(0, countAnswered(queries) - asked);
}

/** @param upstreams in the form of the forwarder */
export function describeServers(upstreams: readonly UpstreamStatistics[]): readonly ServerStatistics[] {
  return upstreams.map(({ upstream, sent, replies, timeouts, networkErrors, smoothedRoundTrip }) => {
    const refused = (replies.get(RCODE.SERVFAIL) ?? 0) + (replies.get(RCODE.REFUSED) ?? 0);
    return {
      server: toDnsmasqServer(upstream),
      queries: sent,
      retried: timeouts,
      failed: refused + networkErrors,
      nxdomain: replies.get(RCODE.NXDOMAIN) ?? 0,
      latency: Math.round(smoothedRoundTrip ?? 0),
    };
  });
}

/** Converts `192.0.2.1:53` or `[2001:db8::1]:53`, perhaps with a source behind it, to `192.0.2.1#53`. */
export function toDnsmasqServer(upstream: string): string {
  return upstream.replace(/^\[?(.*?)\]?:(\d+)(@.*)?$/, '$1#$2');
}
