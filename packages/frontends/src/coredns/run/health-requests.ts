/**
 * Sends health requests to this server once a second: their duration shows whether the process gets CPU time.
 */
import { get } from 'node:http';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { formatGoDuration } from '@portolan/kernel/base/duration.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';

export interface HealthRequestsDependencies {
  readonly metrics: MetricRegistry;
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves at the reply. @throws Error with the reason if there is no reply */
  readonly request?: (address: string) => Promise<void>;
}

/** Milliseconds. */
const INTERVAL = 1000;
const SLOW = 1000;
const TIMEOUT = 3000;
/** Seconds. */
const BUCKETS = Array.from({ length: 5 }, (_, power) => 0.00025 * 10 ** power);

export class HealthRequests {
  readonly #dependencies: HealthRequestsDependencies;
  readonly #durations: ReturnType<MetricRegistry['histogram']>;
  readonly #failures: ReturnType<MetricRegistry['counter']>;
  #addresses: readonly string[] = [];
  #timer: Timer | undefined;

  constructor(dependencies: HealthRequestsDependencies) {
    this.#dependencies = dependencies;
    const { metrics } = dependencies;
    this.#durations = metrics.histogram(
      'coredns_health_request_duration_seconds',
      'Histogram of the time (in seconds) each request took.',
      BUCKETS,
    );
    this.#failures = metrics.counter(
      'coredns_health_request_failures_total',
      'The number of times the health check failed.',
    );
  }

  /** Requests only these addresses from now on. @param addresses as in `health`: `:8080`, `127.0.0.1:8080` */
  follow(addresses: readonly string[]): void {
    this.#addresses = addresses;
    if (addresses.length === 0) this.stop();
    else this.#timer ??= this.#askLater();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#addresses = [];
  }

  #askLater(): Timer {
    return this.#dependencies.clock.after(INTERVAL, () => void this.#askAll());
  }

  async #askAll(): Promise<void> {
    await Promise.all(this.#addresses.map((address) => this.#ask(address)));
    if (this.#addresses.length > 0) this.#timer = this.#askLater();
  }

  async #ask(address: string): Promise<void> {
    const { clock, log, request = requestHealth } = this.#dependencies;
    const began = clock.monotonic();
    let failure: string | undefined;
    try {
      await request(address);
    } catch (error) {
      failure = describeError(error);
    }
    // Ignore the result: the endpoint was closed meanwhile.
    if (!this.#addresses.includes(address)) return;
    const took = clock.monotonic() - began;
    this.#durations.observe({}, took / 1000);
    const url = `plugin/health: Local health request to "http://${address}/health"`;
    if (failure !== undefined) {
      this.#failures.inc();
      log.warn(`${url} failed: ${failure}`);
    } else if (took > SLOW) log.warn(`${url} took more than 1s: ${formatGoDuration(took)}`);
  }
}

/** An address without a host means all addresses. */
function requestHealth(address: string): Promise<void> {
  const url = `http://${address.startsWith(':') ? `localhost${address}` : address}/health`;
  return new Promise((resolve, reject) => {
    const asked = get(url, { agent: false, timeout: TIMEOUT }, (response) => {
      response.resume();
      response.on('end', resolve);
      response.on('error', reject);
    });
    asked.on('timeout', () => asked.destroy(new Error(`no reply within ${TIMEOUT / 1000}s`)));
    asked.on('error', reject);
  });
}
