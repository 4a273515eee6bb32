/**
 * The settings of `cluster-zone`. They belong to the process: a changed plan does not change them.
 */
import type { ClusterOptions } from '../../kube/publish/cluster.ts';

export interface ClusterZoneOptions
  extends Pick<ClusterOptions, 'domain' | 'dialect' | 'pods' | 'ttl' | 'nodes' | 'ownAddresses'>,
    Required<Pick<ClusterOptions, 'endpointRanges' | 'filteredTypes'>> {}
