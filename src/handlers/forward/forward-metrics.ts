/**
 * The metrics of `forward`, under CoreDNS's names.
 */
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import type { ProxyEvents } from '../../forward/proxy/proxy-upstream.ts';
import { rcodeName } from '../../wire/mnemonics.ts';

/** Seconds. */
const BUCKETS = Array.from({ length: 16 }, (_, power) => 0.00025 * 2 ** power);

/** Counts what happens at servers, and to queries that reach none. */
export interface ForwardCounts extends ProxyEvents {
  allDown(): void;
  rejected(): void;
}

export function countForwarding(metrics: PluginMetrics): ForwardCounts {
  const server = ['proxy_name', 'to'];
  const duration = metrics.histogram(
    'coredns_proxy_request_duration_seconds',
    'Histogram of the time each request took.',
    BUCKETS,
  );
  const hits = metrics.counter(
    'coredns_proxy_conn_cache_hits_total',
    'Counter of connection cache hits per upstream and protocol.',
    [...server, 'proto'],
  );
  const misses = metrics.counter(
    'coredns_proxy_conn_cache_misses_total',
    'Counter of connection cache misses per upstream and protocol.',
    [...server, 'proto'],
  );
  const failures = metrics.counter(
    'coredns_proxy_healthcheck_failures_total',
    'Counter of the number of failed healthchecks.',
    server,
  );
  const broken = metrics.counter(
    'coredns_forward_healthcheck_broken_total',
    'Counter of the number of complete failures of the healthchecks.',
  );
  const rejects = metrics.counter(
    'coredns_forward_max_concurrent_rejects_total',
    'Counter of the number of queries rejected because the concurrent queries were at maximum.',
  );
  const of = (to: string) => ({ proxy_name: 'forward', to });
  return {
    asked: (to, proto, isNew) => (isNew ? misses : hits).inc({ ...of(to), proto }),
    replied: (to, rcode, milliseconds) =>
      duration.observe({ ...of(to), rcode: rcodeName(rcode) }, milliseconds / 1000),
    checkFailed: (to) => failures.inc(of(to)),
    allDown: () => broken.inc(),
    rejected: () => rejects.inc(),
  };
}
