/**
 * The options that names of a cluster depend on.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { EndpointZones } from '../names/endpoint-zones.ts';
import type { PodMode } from '../names/pods.ts';
import type { Tenants } from './tenants.ts';

/**
 * How names with the label of a cluster, but none of an endpoint, are answered. `exist`: by NODATA, since there are names below
 * them (RFC 8020). `denied`: by NXDOMAIN, as in CoreDNS.
 */
export type ClusterLabels = 'exist' | 'denied';

/** Options that another plan may change while the cluster is followed. */
export interface ChangingOptions {
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  /** Whether services with cluster IPs and no ready endpoint have no names. */
  readonly ignoresEmptyServices: boolean;
}

export interface ModelOptions extends ChangingOptions {
  readonly domain: NameKey;
  readonly dialect: Dialect;
  readonly pods: PodMode;
  /** Whether services have HTTPS records. */
  readonly hasHttpsRecords: boolean;
  /** Types of records that are left out of all answers. */
  readonly filteredTypes: ReadonlySet<number>;
  /** The topology zones of endpoints; undefined: no names select by zone. */
  readonly zones: EndpointZones | undefined;
  /** Who sees what; undefined: all clients see everything. */
  readonly tenants?: Tenants | undefined;
  /** Whether labels of clusters exist; undefined: the names of endpoints have no such label. */
  readonly clusterLabels: ClusterLabels | undefined;
  /** Apexes at or below `in-addr.arpa.` and `ip6.arpa.`. */
  readonly reverseZones: readonly NameKey[];
  /** The addresses of this machine: to find the service that clients reach us by, or as a fallback if there is no such service. */
  readonly ownAddresses: readonly string[];
}

/** Read the options at each use, since some of them change. */
export interface HasModelOptions {
  readonly options: ModelOptions;
}
