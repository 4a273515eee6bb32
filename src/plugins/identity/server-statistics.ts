/**
 * What is counted of each upstream server, with the server's address as dnsmasq writes it.
 */
import type { UpstreamStatistics } from '../../forward/upstream/upstream-statistics.ts';
import { RCODE } from '../../wire/types.ts';

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

/** The upstream servers, as the forwarder knows them. */
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

/** `192.0.2.1:53` or `[2001:db8::1]:53`, perhaps with a source behind it, as `192.0.2.1#53`. */
export function toDnsmasqServer(upstream: string): string {
  return upstream.replace(/^\[?(.*?)\]?:(\d+)(@.*)?$/, '$1#$2');
}
