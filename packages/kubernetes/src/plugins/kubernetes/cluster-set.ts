/**
 * The zones of a cluster set: the services that the cluster imports from others. They are a cluster of their own in the
 * table, whose services are imports.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Losses } from '@portolan/kernel/base/losses.ts';
import type { PluginContext } from '@portolan/kernel/contract/plugin.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import type { PublicationId } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import { coreDns } from '../../dialects/coredns/dialect.ts';
import { Cluster } from '../../publish/cluster.ts';
import type { ClusterLabels } from '../../publish/model-options.ts';
import type { Tenants } from '../../publish/tenants.ts';
import type { KubernetesOptions } from './options.ts';

export interface ClusterSetDependencies extends Pick<PluginContext, 'clock' | 'log'> {
  readonly table: TableWriter;
  readonly losses?: Losses;
  /** Those of the cluster itself. */
  readonly tenants?: Tenants | undefined;
  readonly restored: RestoredDeviations;
  readonly ownAddresses: readonly string[];
}

export class ClusterSet {
  readonly cluster: Cluster;
  readonly publication: PublicationId;
  /** The first of its zones: names of the others are translated. */
  readonly domain: NameKey;

  /** @throws RangeError for a zone that leaves no room for services */
  constructor(
    domain: NameKey,
    { pods, ttl, hasEndpoints, ignoresEmptyService }: KubernetesOptions,
    { table, losses, clock, log, restored, tenants, ownAddresses }: ClusterSetDependencies,
  ) {
    this.domain = domain;
    this.publication = table.definePublication();
    const settings = {
      domain,
      dialect: coreDns,
      pods,
      ttl,
      ownAddresses,
      hasEndpoints,
      publication: this.publication,
      ignoresEmptyServices: ignoresEmptyService,
      reverseZones: [],
      losses,
      tenants,
      clusterLabels: findClusterLabels(restored),
    } as const;
    this.cluster = new Cluster(settings, table, clock, log);
  }
}

/** Whether labels of clusters exist, which have names below them. */
export function findClusterLabels(restored: RestoredDeviations): ClusterLabels {
  return restored.has('cluster-labels') ? 'denied' : 'exist';
}
