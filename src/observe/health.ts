/**
 * What kubelet and Prometheus ask: `/readiness`, `/readyz`, `/healthz`, `/metrics`.
 *
 * `/healthz` says that the main thread is alive, nothing more: a process that cannot reach the API server is not made
 * better by a restart. Readiness says in words what is missing.
 */
import type { Clock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import {
  type HttpReply,
  type HttpRoute,
  HttpServer,
  type HttpServerOptions,
  PLAIN_TEXT,
} from './http-server.ts';

/** Whether queries should be sent here; if not, why. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

export interface HealthAnswers {
  readiness(): Readiness;
  /** In the text format of Prometheus. */
  metrics(): Promise<string>;
}

export const METRICS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';

export class HealthServer {
  readonly #server: HttpServer;

  constructor(options: Omit<HttpServerOptions, 'flag'>, answers: HealthAnswers, clock: Clock, log: Log) {
    const readiness = () => readinessReply(answers.readiness());
    const routes = new Map<string, HttpRoute>([
      ['/readyz', readiness],
      ['/readiness', readiness],
      ['/healthz', () => ({ status: 200, type: PLAIN_TEXT, body: 'ok\n' })],
      ['/metrics', async () => ({ status: 200, type: METRICS_TEXT, body: await answers.metrics() })],
    ]);
    this.#server = new HttpServer({ ...options, flag: '--healthz-port' }, routes, clock, log);
  }

  /**
   * Listens, or begins to wait for the port.
   *
   * @throws HttpServerError
   */
  start(): Promise<void> {
    return this.#server.start();
  }

  /** The port that is listened on; nothing while it is waited for. */
  get port(): number | undefined {
    return this.#server.port;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}

function readinessReply(readiness: Readiness): HttpReply {
  if (readiness.ready) return { status: 200, type: PLAIN_TEXT, body: 'ok\n' };
  return { status: 503, type: PLAIN_TEXT, body: `${readiness.reason}\n` };
}
