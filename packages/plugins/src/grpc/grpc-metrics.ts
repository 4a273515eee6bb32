/**
 * The metrics of `grpc`, under CoreDNS's names.
 */
import { toFullRcode } from '@portolan/dns/edns.ts';
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import type { Message } from '@portolan/dns/types.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';

/** Seconds. */
const BUCKETS = Array.from({ length: 16 }, (_, power) => 0.00025 * 2 ** power);

export interface GrpcCounts {
  replied(server: string, reply: Message, milliseconds: number): void;
}

export function countGrpc(metrics: MetricRegistry): GrpcCounts {
  const help = 'Counter of requests made per upstream.';
  const requests = metrics.counter('coredns_grpc_requests_total', help, ['to']);
  const responses = metrics.counter('coredns_grpc_responses_total', help, ['rcode', 'to']);
  const durations = metrics.histogram(
    'coredns_grpc_request_duration_seconds',
    'Histogram of the time each request took.',
    BUCKETS,
  );
  return {
    replied(to, reply, milliseconds) {
      requests.inc({ to });
      responses.inc({ rcode: rcodeName(toFullRcode(reply)), to });
      durations.observe({ to }, milliseconds / 1000);
    },
  };
}
