/**
 * Kubernetes Events about the findings of a server, written by the server itself.
 */
import { hostname } from 'node:os';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import { RestClient } from '@portolan/kubernetes/api/rest/rest-client.ts';
import { clustersIn } from '@portolan/kubernetes/plugins/kubernetes/inspected-cluster.ts';
import type { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import { RecordEvidence } from '@portolan/ops/control/record-evidence.ts';
import { EventRecorder } from '@portolan/ops/events/event-recorder.ts';
import { SelectorProbe } from '@portolan/ops/events/selector-probe.ts';
import type { Server } from '@portolan/server/server.ts';
import type { EventsPlan } from '@portolan/server/settings/events/events-plan.ts';
import { type ApiServerSettings, ClusterCompanion, connectToCluster } from './cluster-connection.ts';

export class EmbeddedEvents extends ClusterCompanion<EventRecorder> {
  constructor(plan: EventsPlan, cluster: ApiServerSettings, server: Server, log: Log) {
    super({
      connect: () => connectToCluster(cluster, log),
      run: async (connection) => recordFindings(plan, server, connection, log),
      onFailure: (reason) => log.error('events cannot be written', { reason }),
    });
  }
}

function recordFindings(plan: EventsPlan, server: Server, connection: Connection, log: Log): EventRecorder {
  const rest = new RestClient(connection, systemClock);
  const recorder = new EventRecorder(plan, { rest, clock: systemClock, log, instance: hostname() });
  const clusters = () => listedClusters(server).map((cluster) => new RecordEvidence(cluster));
  const probe = new SelectorProbe({ clusters, rest, clock: systemClock });
  server.findings.follow((current) => {
    recorder.note([...current, ...probe.findings]);
    void probe.look();
  });
  return recorder;
}

/** Until they are listed, services seem to have no endpoints. */
function listedClusters(server: Server): readonly Cluster[] {
  const found = clustersIn(server.engine.serverBlocks.inspect()).map(({ cluster }) => cluster);
  return found.filter(({ isKnown }) => isKnown);
}
