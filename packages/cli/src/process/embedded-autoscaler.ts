/**
 * The autoscaler inside a server that scales itself.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { MetricFamily } from '@portolan/kernel/base/metrics/family.ts';
import type { Autoscaler } from '@portolan/ops/autoscaler/autoscaler.ts';
import type { AutoscalerPlan } from '@portolan/server/settings/autoscaler/autoscaler-plan.ts';
import {
  type ApiServerSettings,
  ClusterCompanion,
  connectToCluster,
  makeIdentity,
} from './cluster-connection.ts';

/** Releases its Lease while the server still answers, so that another replica takes over. */
export class EmbeddedAutoscaler extends ClusterCompanion<Autoscaler> {
  constructor(plan: AutoscalerPlan, cluster: ApiServerSettings, log: Log) {
    super({
      connect: () => connectToCluster(cluster, log),
      run: async (connection) => {
        // Loaded late: most servers have no autoscaler.
        const autoscaler = await import('@portolan/ops/autoscaler/autoscaler.ts');
        const dependencies = { connection, clock: systemClock, log, identity: makeIdentity() };
        const started = new autoscaler.Autoscaler(plan, dependencies);
        started.start();
        return started;
      },
      onFailure: (reason) => log.error('the autoscaler cannot start', { reason }),
    });
  }

  /** Its metrics; empty before the start. */
  families(): readonly MetricFamily[] {
    return this.client?.stats.families(this.client.isLeader) ?? [];
  }
}
