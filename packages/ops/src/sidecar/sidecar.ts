/**
 * The sidecar of kube-dns: probes servers, reads the counters of dnsmasq, and serves both over HTTP.
 *
 *     /healthcheck/<label>   200 or 503, with the last result of that probe as JSON
 *     /healthz               200 while the process is alive
 *     /metrics               under the names of the original
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { MetricFamily } from '@portolan/kernel/base/metrics/family.ts';
import { METRICS_TEXT, writeSortedFamilies } from '@portolan/kernel/base/metrics/text-format.ts';
import type { DropCounts } from '@portolan/server/observe/http-connections.ts';
import type { HttpPort } from '@portolan/server/observe/http-host.ts';
import { type HttpReply, type HttpRoute, PLAIN_TEXT } from '@portolan/server/observe/http-route.ts';
import type { ProbedServer, SidecarPlan } from '@portolan/server/settings/sidecar/sidecar-plan.ts';
import { DnsmasqCacheCounts } from './cache-counts.ts';
import { type AskQuestion, Probe, type ProbeState } from './probe.ts';
import { type LookUpHost, lookUpBySystem, ServerAddress } from './server-address.ts';
import { askServer } from './server-question.ts';
import { dropsFamily, sidecarFamilies } from './sidecar-metrics.ts';

/** The name of its HTTP port. */
export const SIDECAR_PORT = 'sidecar';

export interface SidecarDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** The connections of its port that were closed before their requests were answered. */
  readonly httpDrops: () => DropCounts;
  /** Returns numbers from 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
  /** Looks up host names. Default: by the system. */
  readonly lookUp?: LookUpHost;
  /** Metrics shown after the sidecar's own. */
  readonly furtherMetrics?: () => readonly MetricFamily[];
}

export class Sidecar {
  readonly httpPort: HttpPort;
  readonly #plan: SidecarPlan;
  readonly #dependencies: SidecarDependencies;
  readonly #probes: readonly Probe[];
  readonly #counts: DnsmasqCacheCounts;

  constructor(plan: SidecarPlan, dependencies: SidecarDependencies) {
    this.#plan = plan;
    this.#dependencies = dependencies;
    const { clock, log, random = Math.random } = dependencies;
    this.#probes = plan.probes.map(
      (probe) => new Probe(probe, { ask: this.#createAskQuestion(probe.server), clock, log, random }),
    );
    const { server, interval, delay } = plan.dnsmasq;
    this.#counts = new DnsmasqCacheCounts({
      ask: this.#createAskQuestion(server),
      interval,
      delay,
      clock,
      log,
    });
    this.httpPort = { name: SIDECAR_PORT, options: plan.http, routes: this.#routes() };
  }

  start(): void {
    for (const probe of this.#probes) probe.start();
    this.#counts.start();
  }

  stop(): void {
    for (const probe of this.#probes) probe.stop();
    this.#counts.stop();
  }

  /** The sidecar's own metrics, in the text format of Prometheus. */
  metrics(): string {
    return writeSortedFamilies(sidecarFamilies(this.#plan.http.namespace, this.#probes, this.#counts));
  }

  #createAskQuestion(place: ProbedServer): AskQuestion {
    const { clock, lookUp = lookUpBySystem } = this.#dependencies;
    const address = new ServerAddress(place, lookUp, clock);
    return async (question) => {
      const server = await address.find();
      return server.kind === 'failed' ? server : await askServer(server.endpoint, question, clock);
    };
  }

  #routes(): ReadonlyMap<string, HttpRoute> {
    const { clock, httpDrops, furtherMetrics = () => [] } = this.#dependencies;
    const alive = () => ({
      status: 200,
      type: PLAIN_TEXT,
      body: `ok (${new Date(clock.now()).toISOString()})\n`,
    });
    const metrics = () => ({
      status: 200,
      type: METRICS_TEXT,
      body: [
        this.metrics(),
        writeSortedFamilies([dropsFamily(httpDrops())]),
        writeSortedFamilies(furtherMetrics()),
      ].join(''),
    });
    return new Map<string, HttpRoute>([
      [this.#plan.http.path, metrics],
      ['/healthz', alive],
      ...this.#probes.map(
        (probe) => [`/healthcheck/${probe.plan.label}`, () => toHttpReply(probe.state)] as const,
      ),
    ]);
  }
}

/** The keys and their order are the original's. */
function toHttpReply(state: ProbeState): HttpReply {
  const isOk = state.kind === 'healthy';
  const body = JSON.stringify({
    IsOk: isOk,
    // In nanosecond precision, as in Go.
    LatencySeconds: isOk ? Math.round(state.latency * 1e6) / 1e9 : 0,
    Err: formatError(state),
  });
  return { status: isOk ? 200 : 503, type: 'application/json', body };
}

function formatError(state: ProbeState): string {
  switch (state.kind) {
    case 'healthy':
      return '';
    case 'waiting':
      return 'waiting for first probe';
    case 'unhealthy':
      return state.reason;
  }
}
