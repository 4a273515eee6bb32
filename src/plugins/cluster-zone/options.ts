/**
 * The settings of `cluster-zone`. They belong to the process: a changed plan does not change them.
 */
import type { Dialect } from '../../kube/dialects/dialect.ts';
import type { PodMode } from '../../kube/names/pods.ts';
import type { NameKey } from '../../wire/types.ts';

export interface ClusterZoneOptions {
  readonly domain: NameKey;
  readonly dialect: Dialect;
  readonly pods: PodMode;
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  /** The addresses of this machine, for the name server's own name. */
  readonly ownAddresses: readonly string[];
  /** Types of records that are left out of all answers. */
  readonly filteredTypes: ReadonlySet<number>;
}
