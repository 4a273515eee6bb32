/**
 * Kubernetes Events about the findings of a server, written by the server itself.
 */
import { hostname } from 'node:os';
import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { AutoscalerSettings } from '../config/autoscaler/autoscaler-flags.ts';
import type { EventsPlan } from '../config/events/events-plan.ts';
import type { Connection } from '../kube/api/connection/types.ts';
import type { Cluster } from '../kube/publish/cluster.ts';
import { clustersIn } from '../plugins/kubernetes/inspected-cluster.ts';
import type { EventRecorder } from '../roles/events/event-recorder.ts';
import type { Server } from '../server/server.ts';
import { connectToCluster } from './make-autoscaler.ts';

/** It neither delays the server's start nor ends the server. */
export class CarriedEvents {
  readonly #plan: EventsPlan;
  readonly #cluster: AutoscalerSettings['cluster'];
  readonly #log: Log;
  #running: { readonly connection: Connection; readonly recorder: EventRecorder } | undefined;

  constructor(plan: EventsPlan, cluster: AutoscalerSettings['cluster'], log: Log) {
    this.#plan = plan;
    this.#cluster = cluster;
    this.#log = log;
  }

  /** Never rejects: failures are logged. */
  async start(server: Server): Promise<void> {
    const log = this.#log;
    try {
      // Loaded late: most servers write no events.
      const [{ EventRecorder }, { SelectorProbe }, { RestClient }, { KeptEvidence }] = await Promise.all([
        import('../roles/events/event-recorder.ts'),
        import('../roles/events/selector-probe.ts'),
        import('../kube/api/rest/rest-client.ts'),
        import('../server/control/kept-evidence.ts'),
      ]);
      const connection = await connectToCluster(this.#cluster, log);
      const rest = new RestClient(connection, systemClock);
      const recorder = new EventRecorder(this.#plan, { rest, clock: systemClock, log, instance: hostname() });
      const clusters = () => listedClusters(server).map((cluster) => new KeptEvidence(cluster));
      const probe = new SelectorProbe({ clusters, rest, clock: systemClock });
      this.#running = { connection, recorder };
      server.findings.follow((current) => {
        recorder.note([...current, ...probe.findings]);
        void probe.look();
      });
    } catch (error) {
      log.error('events cannot be written', { reason: String(error) });
    }
  }

  async stop(): Promise<void> {
    await this.#running?.recorder.stop();
    this.#running?.connection.close();
  }
}

/** Until they are listed, services seem to have no endpoints. */
function listedClusters(server: Server): readonly Cluster[] {
  const found = clustersIn(server.engine.serverBlocks.inspect()).map(({ cluster }) => cluster);
  return found.filter(({ isKnown }) => isKnown);
}
