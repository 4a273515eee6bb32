/**
 * The settings of `cluster-zone`. They belong to the process: a changed plan does not change them.
 */
import type { Dialect } from '../../kube/dialects/dialect.ts';
import type { PodMode } from '../../kube/names/pods.ts';
import type { NodesUse } from '../../kube/publish/nodes-use.ts';
import type { AddressRange } from '../../wire/address-range.ts';
import type { NameKey } from '../../wire/types.ts';

export interface ClusterZoneOptions {
  readonly domain: NameKey;
  readonly dialect: Dialect;
  readonly pods: PodMode;
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  /** The ranges of pods and nodes: endpoints of services without a selector have reverse names only there. Undefined: anywhere. */
  readonly endpointRanges: readonly AddressRange[] | undefined;
  /** How nodes are used; undefined: they are not watched. */
  readonly nodes?: NodesUse | undefined;
  /** The addresses of this machine, for the name server's own name. */
  readonly ownAddresses: readonly string[];
  /** Types of records that are left out of all answers. */
  readonly filteredTypes: ReadonlySet<number>;
}
