/**
 * The last good state of a cluster in a file, so that a start without an API server answers the names that it had.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Cluster } from '../../publish/cluster.ts';
import type { SnapshotOwner } from '../../snapshot/snapshot-file.ts';
import { SnapshotKeeper, type SnapshotSettings } from '../../snapshot/snapshot-keeper.ts';

export interface ClusterSnapshotOptions {
  readonly settings: SnapshotSettings;
  readonly cluster: Cluster;
  /** The owner of the state, as far as it is known now. Never rejects. */
  readonly owner: () => Promise<SnapshotOwner>;
  /** Milliseconds since the state was last known to be current; undefined if it never was. */
  readonly age: () => number | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds up to which a state counts as current. */
const MAX_CURRENT_AGE = 300_000;

export function keepSnapshot({
  settings,
  cluster,
  owner,
  age,
  clock,
  log,
}: ClusterSnapshotOptions): SnapshotKeeper {
  return new SnapshotKeeper({
    ...settings,
    owner,
    generation: () => cluster.generation,
    // Names that may be gone must not begin again with each start.
    state: () =>
      cluster.isKnown && !cluster.hasStaleNames ? { kind: 'octets', ...cluster.snapshot() } : undefined,
    isCurrent: () => (age() ?? Number.POSITIVE_INFINITY) < MAX_CURRENT_AGE,
    clock,
    log,
  });
}

/** Publishes the names of the snapshot. @returns whether it has objects */
export async function restoreSnapshot(snapshot: SnapshotKeeper, cluster: Cluster): Promise<boolean> {
  const content = await snapshot.read();
  if (content === undefined) return false;
  if (content.kind === 'lines') cluster.restoreLines(content.lines);
  else if (!cluster.restore(content.octets)) {
    snapshot.reject('its records are damaged, or those of another version');
    return false;
  }
  // Publish the names before the first query.
  cluster.settle();
  return [...cluster.state().kinds.values()].some(({ count }) => count > 0);
}
