/**
 * The HTTP paths for the kubelet, Prometheus and operators: `/readiness`, `/readyz`, `/healthz`, `/metrics`, and `/cache` if
 * configured. As in kube-dns, both the health port and a separate metrics port serve all paths.
 *
 * `/healthz` shows only that the main thread is alive: a restart does not help a process that cannot reach the API server. While
 * the server is not ready, the readiness paths reply with the reason; while it starts, they wait a moment for the first state.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { METRICS_TEXT } from '@portolan/kernel/base/metrics/text-format.ts';
import { FirstReadiness } from './first-readiness.ts';
import type { HttpPort } from './http-host.ts';
import { type HttpReply, type HttpRoute, PLAIN_TEXT } from './http-route.ts';
import type { HttpServerOptions } from './http-server.ts';
import { inSlices } from './yielding-text.ts';

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

export interface HealthPortOptions extends Pick<HttpServerOptions, 'address' | 'port' | 'waitForPort'> {
  /** A second port, which serves the metrics under a configurable path too. */
  readonly metrics?:
    | { readonly address: string | undefined; readonly port: number; readonly path: string }
    | undefined;
}

/** The names of the ports. */
export const [HEALTH_PORT, METRICS_PORT] = ['health', 'metrics'] as const;

const METRICS_PATH = '/metrics';

/** The ports, which serve the same paths. */
export function healthPorts(
  { metrics, ...place }: HealthPortOptions,
  answers: HealthAnswers,
  clock: Clock,
): readonly HttpPort[] {
  const routes = makeRoutes(answers, metrics?.path ?? METRICS_PATH, clock);
  const health = { name: HEALTH_PORT, options: { ...place, flag: '--healthz-port' }, routes };
  if (metrics === undefined) return [health];
  const { address, port } = metrics;
  const flag = '--prometheus-port or PROMETHEUS_PORT';
  return [health, { name: METRICS_PORT, options: { ...place, address, port, flag }, routes }];
}

function makeRoutes(answers: HealthAnswers, metricsPath: string, clock: Clock): Map<string, HttpRoute> {
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
