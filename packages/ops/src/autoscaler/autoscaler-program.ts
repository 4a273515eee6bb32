/**
 * The autoscaler as a program of its own, with its HTTP port:
 *
 *     /healthz     200 while the process is alive
 *     /last-poll   200, or 500 with the errors
 *     /metrics     for Prometheus
 */
import type { MetricFamily } from '@portolan/kernel/base/metrics/family.ts';
import { METRICS_TEXT, writeSortedFamilies } from '@portolan/kernel/base/metrics/text-format.ts';
import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import type { HttpPort } from '@portolan/server/observe/http-host.ts';
import { type HttpReply, type HttpRoute, PLAIN_TEXT } from '@portolan/server/observe/http-route.ts';
import type { AutoscalerPlan } from '@portolan/server/settings/autoscaler/autoscaler-plan.ts';
import { Autoscaler, type AutoscalerDependencies } from './autoscaler.ts';

export interface AutoscalerProgramDependencies extends Omit<AutoscalerDependencies, 'connection'> {
  /** 0: any free port. */
  readonly healthzPort: number;
  /** @throws Error with the reason if an API server cannot be used */
  readonly connect: () => Promise<Connection>;
  /** Metrics shown after the autoscaler's own. */
  readonly furtherMetrics: () => readonly MetricFamily[];
}

export class AutoscalerProgram {
  /** Resolves when the program must end with an error. */
  readonly failure: Promise<Error>;
  /** Answers health checks independently of the API server. */
  readonly httpPort: HttpPort;
  readonly #plan: AutoscalerPlan;
  readonly #dependencies: AutoscalerProgramDependencies;
  #connection: Connection | undefined;
  #autoscaler: Autoscaler | undefined;
  #isStopped = false;
  #fail: (error: Error) => void = () => {};

  constructor(plan: AutoscalerPlan, dependencies: AutoscalerProgramDependencies) {
    this.#plan = plan;
    this.#dependencies = dependencies;
    const place = {
      address: undefined,
      port: dependencies.healthzPort,
      waitForPort: false,
      flag: '--healthz-port',
    };
    this.httpPort = { name: 'autoscaler', options: place, routes: this.#routes() };
    this.failure = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  /** @throws ClusterConfigurationError and what `connect` throws */
  async start(): Promise<void> {
    const connection = await this.#dependencies.connect();
    if (this.#isStopped) {
      connection.close();
      return;
    }
    this.#connection = connection;
    const autoscaler = new Autoscaler(this.#plan, { ...this.#dependencies, connection });
    this.#autoscaler = autoscaler;
    void autoscaler.failure.then((error) => this.#fail(error));
    autoscaler.start();
  }

  /** Ends a start that waits for its connection, too. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#autoscaler?.stop();
    this.#connection?.close();
  }

  #routes(): ReadonlyMap<string, HttpRoute> {
    const metrics = () => {
      const own = this.#autoscaler?.stats.families(this.#autoscaler.isLeader) ?? [];
      const further = this.#dependencies.furtherMetrics();
      const body = writeSortedFamilies(own) + writeSortedFamilies(further);
      return { status: 200, type: METRICS_TEXT, body };
    };
    return new Map<string, HttpRoute>([
      ['/healthz', () => OK],
      ['/last-poll', () => this.#lastPoll()],
      ['/metrics', metrics],
    ]);
  }

  #lastPoll(): HttpReply {
    const last = this.#autoscaler?.stats.lastPoll;
    if (last?.kind !== 'failed') return OK;
    const body = `Encountered error at last poll cycle: ${last.reason}`;
    return { status: 500, type: PLAIN_TEXT, body };
  }
}

const OK: HttpReply = { status: 200, type: PLAIN_TEXT, body: '' };
