/**
 * Creates an autoscaler, for `portolan autoscaler` and for a server that scales itself.
 */

import { randomUUID } from 'node:crypto';
import { homedir, hostname } from 'node:os';
import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { MetricFamily } from '../base/metrics/family.ts';
import type { AutoscalerSettings } from '../config/autoscaler/autoscaler-flags.ts';
import type { AutoscalerPlan } from '../config/autoscaler/autoscaler-plan.ts';
import type { Connection } from '../kube/api/connection/types.ts';
import type { Autoscaler } from '../roles/autoscaler/autoscaler.ts';

/** The holder's identity in the Lease: the pod's name for readers, and a UUID that changes with each restart. */
export function makeIdentity(): string {
  return `${hostname()}_${randomUUID()}`;
}

/** @throws Error listing the places searched; ClusterConfigurationError */
export async function connectToCluster(
  cluster: AutoscalerSettings['cluster'],
  log: Log,
): Promise<Connection> {
  const { findCluster } = await import('../kube/api/connection/find-cluster.ts');
  const found = await findCluster({ ...cluster, environment: process.env, home: homedir() });
  if (found.kind === 'none')
    throw new Error(
      `no cluster found, looked for:${found.lookedFor.map((place) => `\n  ${place}`).join('')}\n` +
        'Run it in a pod, or name a kubeconfig file with --kubecfg-file or an API server with --kube-master-url.',
    );
  log.info('cluster found', { server: found.server, source: found.source });
  return found;
}

/** The autoscaler inside a server. It neither delays the server's start nor ends the server. */
export class CarriedAutoscaler {
  readonly #plan: AutoscalerPlan;
  readonly #cluster: AutoscalerSettings['cluster'];
  readonly #log: Log;
  #running: { readonly connection: Connection; readonly autoscaler: Autoscaler } | undefined;

  constructor(plan: AutoscalerPlan, cluster: AutoscalerSettings['cluster'], log: Log) {
    this.#plan = plan;
    this.#cluster = cluster;
    this.#log = log;
  }

  /** Never rejects: failures are logged. */
  async start(): Promise<void> {
    try {
      // Loaded late: most servers have no autoscaler.
      const { Autoscaler } = await import('../roles/autoscaler/autoscaler.ts');
      const connection = await connectToCluster(this.#cluster, this.#log);
      const dependencies = { connection, clock: systemClock, log: this.#log, identity: makeIdentity() };
      const autoscaler = new Autoscaler(this.#plan, dependencies);
      this.#running = { connection, autoscaler };
      autoscaler.start();
    } catch (error) {
      this.#log.error('the autoscaler cannot start', { reason: String(error) });
    }
  }

  /** Its metrics; empty before the start. */
  families(): readonly MetricFamily[] {
    const { autoscaler } = this.#running ?? {};
    return autoscaler?.stats.families(autoscaler.isLeader) ?? [];
  }

  /** Releases the Lease, so that another replica takes over. */
  async stop(): Promise<void> {
    await this.#running?.autoscaler.stop();
    this.#running?.connection.close();
  }
}
