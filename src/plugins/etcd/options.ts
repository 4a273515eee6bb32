/**
 * Names from the keys of an etcd, as the plugin `etcd` of CoreDNS answers them.
 */
import type { EtcdSettings } from '../../sources/etcd/client/settings.ts';
import type { SnapshotSettings } from '../../sources/snapshot/snapshot-keeper.ts';
import type { NameKey } from '../../wire/types.ts';

export interface EtcdOptions {
  readonly zones: readonly NameKey[];
  readonly etcd: EtcdSettings;
  /** The first parts of all keys. */
  readonly path: string;
  /** Seconds: bounds of what is left of a lease, as a TTL. */
  readonly minLease: number;
  readonly maxLease: number;
  /** Zones in which missing names go to the next handler; empty: in none. */
  readonly fallthrough: readonly NameKey[];
  /** Whether the host name of a record with a text is answered beside the text. */
  readonly aliasesBesideText: boolean;
  /** Where the keys are kept for a start without etcd; undefined: nowhere. */
  readonly snapshot: SnapshotSettings | undefined;
}
