/**
 * The last good state of a cluster in a file, so that a start without an API server answers the names that it had.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Connection } from '../../kube/api/connection/types.ts';
import { makeApiAccess } from '../../kube/api/list-watch/api-access.ts';
import { findClusterIdentity } from '../../kube/api/list-watch/cluster-identity.ts';
import type { Cluster } from '../../kube/publish/cluster.ts';
import { SnapshotKeeper } from '../../sources/snapshot/snapshot-keeper.ts';
import type { KubernetesOptions, KubernetesSnapshot } from './options.ts';

export interface KeptSnapshotOptions {
  readonly options: KubernetesOptions;
  readonly snapshot: KubernetesSnapshot;
  readonly cluster: Cluster;
  readonly connection: Connection;
  /** Milliseconds since the state was last known to be current; undefined: it is not. */
  readonly age: () => number | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds up to which a state counts as current. */
const MAX_CURRENT_AGE = 300_000;

export function keepSnapshot(parts: KeptSnapshotOptions): SnapshotKeeper {
  const { options, snapshot, cluster, connection, age, clock, log } = parts;
  const api = makeApiAccess({ connection, clock, log });
  let identity: string | undefined;
  return new SnapshotKeeper({
    ...snapshot,
    maxAgeName: 'portolan { snapshot }',
    owner: async () => {
      identity ??= await findClusterIdentity(api);
      return { domain: options.primaryZone, source: describeSource(connection, options), cluster: identity };
    },
    generation: () => cluster.generation,
    state: () => (cluster.isKnown ? [...cluster.snapshot()] : undefined),
    isCurrent: () => (age() ?? Number.POSITIVE_INFINITY) < MAX_CURRENT_AGE,
    clock,
    log,
  });
}

/** Other selectors select other objects. */
function describeSource({ server }: Connection, { labels, namespaceLabels }: KubernetesOptions): string {
  const selectors = [labels, namespaceLabels].flatMap((selector) => selector ?? []);
  return [server, ...selectors].join(' ');
}

/** Publishes the names of the snapshot. @returns whether there was one */
export async function restoreSnapshot(snapshot: SnapshotKeeper, cluster: Cluster): Promise<boolean> {
  const lines = [...(await snapshot.read())];
  if (lines.length === 0) return false;
  cluster.restore(lines);
  cluster.settle();
  return true;
}
