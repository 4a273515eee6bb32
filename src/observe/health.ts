/**
 * The HTTP paths for the kubelet, Prometheus and operators: `/readiness`, `/readyz`, `/healthz`, `/metrics`, and `/cache` if
 * configured. As in kube-dns, both the health port and a separate metrics port serve all paths.
 *
 * `/healthz` shows only that the main thread is alive: a restart does not help a process that cannot reach the API server. While
 * the server is not ready, the readiness paths reply with the reason; while it starts, they wait a moment for the first state.
 */

import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { METRICS_TEXT } from '../base/metrics/text-format.ts';
import { FirstReadiness } from './first-readiness.ts';
import type { DropCounts } from './http-connections.ts';
import { HttpHost } from './http-host.ts';
import { type HttpReply, type HttpRoute, PLAIN_TEXT } from './http-route.ts';
import type { HttpServerOptions } from './http-server.ts';
import { inSlices } from './slices.ts';

/** Whether this server is ready for queries; if not, the reason. */
export type Readiness =
  | {
      readonly ready: true;
      /** A remark for operators despite readiness. */
      readonly note?: string;
    }
  | { readonly ready: false; readonly reason: string };

export interface HealthAnswers {
  readiness(): Readiness;
  /** Whether the server stops: probes then wait for no better state. Default: no. */
  readonly isEnding?: () => boolean;
  /** In Prometheus text format. */
  metrics(): string;
  /** The zone as text, in pieces generated on demand; undefined: the path does not exist. */
  readonly cache?: (() => Iterable<string>) | undefined;
}

export interface HealthServerOptions {
  /** Undefined: all addresses of all families of the machine. */
  readonly address: string | undefined;
  /** 0: any free port. */
  readonly port: number;
  /** Whether to retry while another process holds the port, instead of failing. */
  readonly waitForPort: boolean;
  /** A second port, which serves the metrics under a configurable path too. */
  readonly metrics?:
    | { readonly address: string | undefined; readonly port: number; readonly path: string }
    | undefined;
}

/** The names of the ports. */
const [HEALTH, METRICS] = ['health', 'metrics'] as const;

export class HealthServer {
  readonly #host: HttpHost;
  readonly #routes: ReadonlyMap<string, HttpRoute>;
  readonly #ports: readonly (readonly [name: string, options: HttpServerOptions])[];

  constructor(options: HealthServerOptions, answers: HealthAnswers, clock: Clock, log: Log) {
    const { address, port, waitForPort, metrics } = options;
    this.#host = new HttpHost(clock, log);
    this.#routes = routesOf(answers, metrics?.path ?? METRICS_PATH, clock);
    this.#ports = [
      [HEALTH, { address, port, waitForPort, flag: '--healthz-port' }],
      ...(metrics === undefined ? [] : [[METRICS, { ...metrics, waitForPort, flag: METRICS_FLAG }] as const]),
    ];
  }

  /**
   * Listens, or starts to wait for the ports.
   *
   * @throws HttpServerError
   */
  async start(): Promise<void> {
    for (const [name, options] of this.#ports) await this.#host.open(name, options, this.#routes);
  }

  /** The open port; undefined while waiting for it. */
  get port(): number | undefined {
    return this.#host.portOf(HEALTH);
  }

  /** The open metrics port; undefined while waiting for it. */
  get metricsPort(): number | undefined {
    return this.#host.portOf(METRICS);
  }

  /** Connections of both ports that were closed before their requests were answered. */
  get drops(): DropCounts {
    return this.#host.drops;
  }

  async stop(): Promise<void> {
    await this.#host.stop();
  }
}

const METRICS_PATH = '/metrics';
const METRICS_FLAG = '--prometheus-port or PROMETHEUS_PORT';

function routesOf(answers: HealthAnswers, metricsPath: string, clock: Clock): Map<string, HttpRoute> {
  const first = new FirstReadiness(() => answers.readiness().ready || answers.isEnding?.() === true, clock);
  const readiness = async () => {
    await first.wait();
    return readinessReply(answers.readiness());
  };
  const metrics = () => ({ status: 200, type: METRICS_TEXT, body: answers.metrics() });
  const routes = new Map<string, HttpRoute>([
    ['/readyz', readiness],
    ['/readiness', readiness],
    ['/healthz', () => ({ status: 200, type: PLAIN_TEXT, body: 'ok\n' })],
    [METRICS_PATH, metrics],
    [metricsPath, metrics],
  ]);
  if (answers.cache !== undefined) routes.set('/cache', oneAtATime(answers.cache, clock));
  return routes;
}

function readinessReply(readiness: Readiness): HttpReply {
  if (readiness.ready)
    return {
      status: 200,
      type: PLAIN_TEXT,
      body: `ok\n${readiness.note === undefined ? '' : `${readiness.note}\n`}`,
    };
  return { status: 503, type: PLAIN_TEXT, body: `${readiness.reason}\n` };
}

/** Generates expensive text for one client at a time. */
function oneAtATime(make: () => Iterable<string>, clock: Clock): HttpRoute {
  let isBusy = false;
  async function* body(): AsyncGenerator<string, void> {
    isBusy = true;
    try {
      yield* inSlices(make(), clock);
    } finally {
      isBusy = false;
    }
  }
  return () =>
    isBusy
      ? { status: 503, type: PLAIN_TEXT, body: 'another client is reading it: try again\n' }
      : { status: 200, type: PLAIN_TEXT, body: body() };
}
