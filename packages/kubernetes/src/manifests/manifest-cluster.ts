/**
 * A cluster whose objects are manifests in a folder, for programs that embed a server.
 */
import { parseKey } from '@portolan/dns/name.ts';
import { type Clock, systemClock } from '@portolan/kernel/base/clock.ts';
import { type Log, silentLog } from '@portolan/kernel/base/log.ts';
import { type PluginUse, usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import type { Engine } from '@portolan/kernel/engine/engine.ts';
import { BlockCluster } from '../plugins/kubernetes/block-cluster.ts';
import { kubernetes } from '../plugins/kubernetes/plugin.ts';
import { toClusterSinks } from '../publish/cluster-sinks.ts';
import { findDialect } from '../publish/find-dialect.ts';
import { ManifestSource } from './manifest-source.ts';

/** The plugin of a cluster that gets its objects from `followManifests`. @param domain default: `cluster.local` */
export function useManifestCluster(domain = 'cluster.local'): PluginUse {
  return usePlugin(kubernetes, {
    kind: 'process',
    domain: parseKey(domain),
    dialect: findDialect('coredns'),
    pods: 'disabled',
    ttl: 5,
    nodes: undefined,
    ownAddresses: [],
    endpointRanges: undefined,
    filteredTypes: new Set<number>(),
    exceptions: [],
  });
}

export interface ManifestSettings {
  /** Of files `*.yaml`, `*.yml` and `*.json`. Changed files are read again. */
  readonly folder: string;
  /** Default: silent. */
  readonly log?: Log;
  readonly clock?: Clock;
}

/**
 * Lists the manifests of a folder into the cluster of an engine, and follows them.
 *
 * @returns ends that
 * @throws FolderError if the folder cannot be read; TypeError if the engine has no cluster
 */
export async function followManifests(
  engine: Pick<Engine, 'find'>,
  { folder, log = silentLog, clock = systemClock }: ManifestSettings,
): Promise<() => void> {
  const owner = engine.find(BlockCluster);
  if (owner === undefined) throw new TypeError('an engine without a cluster');
  const source = new ManifestSource({
    folder,
    allowEmpty: false,
    sinks: toClusterSinks(owner.cluster),
    clock,
    log,
  });
  await source.start();
  return () => source.stop();
}
