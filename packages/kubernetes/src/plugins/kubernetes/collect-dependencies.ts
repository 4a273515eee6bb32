/**
 * What a cluster that a plugin follows needs of its block and of the process.
 */
import { networkInterfaces } from 'node:os';
import type { PluginContext } from '@portolan/kernel/contract/plugin.ts';
import { ANSWER_TABLE, BLOCK, LOSSES, PLAN } from '@portolan/kernel/contract/services.ts';
import { Transfer } from '@portolan/plugins/transfer/transfer.ts';
import type { ClusterNeed } from './followed-cluster.ts';
import type { KubernetesDependencies } from './kubernetes-plugin.ts';

/** What other plugins of its block need of the cluster. */
const NEEDS: readonly (readonly [plugin: string, need: ClusterNeed])[] = [
  ['autopath', 'searches'],
  ['k8s_external', 'external'],
  ['metadata', 'identities'],
];

export function collectDependencies(context: PluginContext): KubernetesDependencies {
  const { pluginNames } = context.use(BLOCK);
  const needs = NEEDS.flatMap(([plugin, need]) => (pluginNames.includes(plugin) ? need : []));
  const transfer = context.find(Transfer);
  return {
    ...context,
    ...context.use(PLAN),
    table: context.use(ANSWER_TABLE),
    losses: context.use(LOSSES),
    chain: context.lookUp,
    ownAddresses: addressesOfServer(context.server),
    environment: process.env,
    needs,
    ...(transfer && { onChange: (zone) => transfer.notify(zone) }),
  };
}

/**
 * The addresses at which clients reach a server block, for its own name in the zone of a cluster.
 *
 * @param server `dns://:53` means all addresses of this machine, `dns://192.0.2.1:53` only one; loopback addresses are excluded
 */
function addressesOfServer(server: string): readonly string[] {
  const bound = /^\w+:\/\/\[?(.*?)\]?:\d+$/.exec(server)?.[1] ?? '';
  const own = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => address);
  return bound === '' ? own : own.filter((address) => address === bound);
}
