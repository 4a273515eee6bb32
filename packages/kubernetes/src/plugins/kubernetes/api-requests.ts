/**
 * Applies the limits of `kubernetes` to requests to the API server, and counts them under the metric names of CoreDNS's client.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { ApiResponse, Connection, RequestOptions } from '../../api/connection/types.ts';
import type { KubernetesApi } from './options.ts';

export interface ApiRequestsDependencies {
  readonly metrics: MetricRegistry;
  readonly clock: Clock;
}

/** Seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** @returns the same connection, with requests that wait as the limits require */
export function observeRequests(
  connection: Connection,
  limits: Pick<KubernetesApi, 'qps' | 'burst' | 'maxInflight'>,
  { metrics, clock }: ApiRequestsDependencies,
): Connection {
  const families = createFamilies(metrics);
  const gate = new Gate(limits, clock);
  const { host } = new URL(connection.server);
  return {
    kind: 'connection',
    server: connection.server,
    source: connection.source,
    refreshCredentials: () => connection.refreshCredentials(),
    close: () => connection.close(),
    async request(path: string, options: RequestOptions = {}): Promise<ApiResponse> {
      const method = options.method ?? 'GET';
      const began = clock.monotonic();
      await gate.enter(options.signal);
      const sent = clock.monotonic();
      families.waits.observe({ verb: method, host }, (sent - began) / 1000);
      let code = '<error>';
      try {
        const response = await connection.request(path, options);
        code = String(response.status);
        return response;
      } finally {
        gate.leave();
        families.durations.observe({ verb: method, host }, (clock.monotonic() - sent) / 1000);
        families.requests.inc({ code, method, host });
      }
    },
  };
}

function createFamilies(metrics: MetricRegistry) {
  return {
    requests: metrics.counter(
      'coredns_kubernetes_rest_client_requests_total',
      'Number of HTTP requests, partitioned by status code, method, and host.',
      ['code', 'method', 'host'],
    ),
    durations: metrics.histogram(
      'coredns_kubernetes_rest_client_request_duration_seconds',
      'Request latency in seconds. Broken down by verb and host.',
      BUCKETS,
    ),
    waits: metrics.histogram(
      'coredns_kubernetes_rest_client_rate_limiter_duration_seconds',
      'Client side rate limiter latency in seconds. Broken down by verb and host.',
      BUCKETS,
    ),
  };
}

/** Limits requests per second, the burst, and the requests in flight. */
class Gate {
  readonly #clock: Clock;
  readonly #maxInflight: number;
  /** Milliseconds between two requests; 0: no limit. */
  readonly #pause: number;
  readonly #burst: number;
  /** Time at which all admitted requests would have passed at the steady rate. */
  #usedUntil = Number.NEGATIVE_INFINITY;
  #inflight = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    { qps, burst, maxInflight }: Pick<KubernetesApi, 'qps' | 'burst' | 'maxInflight'>,
    clock: Clock,
  ) {
    this.#clock = clock;
    this.#maxInflight = maxInflight === 0 ? Number.POSITIVE_INFINITY : maxInflight;
    this.#pause = qps === 0 ? 0 : 1000 / qps;
    this.#burst = Math.max(1, burst);
  }

  /** @throws the reason of the signal */
  async enter(signal: AbortSignal | undefined): Promise<void> {
    await this.#takeTurn();
    while (this.#inflight >= this.#maxInflight)
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    if (signal?.aborted === true) this.#waiting.shift()?.();
    signal?.throwIfAborted();
    this.#inflight += 1;
  }

  leave(): void {
    this.#inflight -= 1;
    this.#waiting.shift()?.();
  }

  async #takeTurn(): Promise<void> {
    if (this.#pause === 0) return;
    const now = this.#clock.monotonic();
    this.#usedUntil = Math.max(this.#usedUntil, now - this.#pause * this.#burst) + this.#pause;
    const wait = this.#usedUntil - now;
    if (wait > 0) await new Promise<void>((resolve) => void this.#clock.after(wait, resolve));
  }
}
