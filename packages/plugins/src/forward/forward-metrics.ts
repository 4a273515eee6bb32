/**
 * The metrics of `forward`, under CoreDNS's names.
 */
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';

/** Seconds. */
const BUCKETS = Array.from({ length: 16 }, (_, power) => 0.00025 * 2 ** power);

/** Events of servers. `server`: its address and port. */
export interface ServerEvents {
  /** @param isNew whether the query opened a connection, in terms of a proxy with one query per connection */
  asked(server: string, protocol: 'udp' | 'tcp', isNew: boolean): void;
  replied(server: string, rcode: number, milliseconds: number): void;
  checkFailed(server: string): void;
}

/** Counts events at servers, and queries that reach no server. */
export interface ForwardMetrics extends ServerEvents {
  allDown(): void;
  rejected(): void;
  /** Adds the remaining counts, and stops counting. */
  stop(): void;
}

export function countForwarding(metrics: MetricRegistry): ForwardMetrics {
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
  const servers = new Map<string, CollectedCounts>();
  const getOrCreateCounts = (to: string): CollectedCounts => {
    const known = servers.get(to);
    if (known !== undefined) return known;
    const added = new CollectedCounts((rcode) => duration.series({ ...of(to), rcode: rcodeName(rcode) }));
    servers.set(to, added);
    return added;
  };
  const flush = () => {
    for (const [to, counts] of servers)
      for (const [proto, { hits: again, misses: fresh }] of counts.takeConnections()) {
        if (again > 0) hits.inc({ ...of(to), proto }, again);
        if (fresh > 0) misses.inc({ ...of(to), proto }, fresh);
      }
  };
  const endCollecting = metrics.collectBy(flush);
  return {
    asked: (to, proto, isNew) => getOrCreateCounts(to).asked(proto, isNew),
    replied: (to, rcode, milliseconds) => getOrCreateCounts(to).replied(rcode, milliseconds),
    checkFailed: (to) => failures.inc(of(to)),
    allDown: () => broken.inc(),
    rejected: () => rejects.inc(),
    stop() {
      flush();
      endCollecting();
    },
  };
}

/** Counts of one server until metrics are shown: it would be too slow to look up labels for each query. */
class CollectedCounts {
  readonly #createObserver: (rcode: number) => (seconds: number) => void;
  readonly #observers = new Map<number, (seconds: number) => void>();
  #connections = noConnections();

  constructor(createObserver: (rcode: number) => (seconds: number) => void) {
    this.#createObserver = createObserver;
  }

  asked(protocol: 'udp' | 'tcp', isNew: boolean): void {
    this.#connections[protocol][isNew ? 'misses' : 'hits'] += 1;
  }

  replied(rcode: number, milliseconds: number): void {
    const observe = this.#observers.get(rcode) ?? this.#createObserver(rcode);
    this.#observers.set(rcode, observe);
    observe(milliseconds / 1000);
  }

  /** Counts since the last call. */
  takeConnections() {
    const taken = this.#connections;
    this.#connections = noConnections();
    return Object.entries(taken);
  }
}

function noConnections(): Record<'udp' | 'tcp', { hits: number; misses: number }> {
  return { udp: { hits: 0, misses: 0 }, tcp: { hits: 0, misses: 0 } };
}
