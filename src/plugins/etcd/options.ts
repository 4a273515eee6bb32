/**
 * Names from the keys of an etcd, as the plugin `etcd` of CoreDNS answers them.
 */
import type { EtcdSettings } from '../../sources/etcd/client/settings.ts';
import type { SnapshotSettings } from '../../sources/snapshot/snapshot-keeper.ts';
import type { NameKey } from '../../wire/types.ts';

export interface EtcdOptions {
  readonly zones: readonly NameKey[];
  readonly etcd: EtcdSettings;
  /** Prefix of all keys. */
  readonly path: string;
  /** Seconds: bounds of the TTL that is derived from the rest of a lease. */
  readonly minLease: number;
  readonly maxLease: number;
  /** Zones in which missing names go to the next handler; empty: in none. */
  readonly fallthrough: readonly NameKey[];
  /** Whether the answer for a record with a text also has its host name. */
  readonly aliasesBesideText: boolean;
  /** Where the keys are saved for a start without etcd; undefined: not saved. */
  readonly snapshot: SnapshotSettings | undefined;
}
