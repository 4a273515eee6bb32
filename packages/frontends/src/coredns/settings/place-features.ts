/**
 * Puts plugins without a directive into server blocks whose `portolan` asks for them.
 */
import { isWithin } from '@portolan/dns/name.ts';
import { type PluginUse, usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import type { ListenerGroupPlan } from '@portolan/kernel/plan/server-blocks-plan.ts';
import type { EncryptedListener } from '@portolan/plugins/discovery/options.ts';
import { discovery } from '@portolan/plugins/discovery/plugin.ts';
import { nftset } from '@portolan/plugins/nftset/plugin.ts';
import { findOptions } from '../../plugins/registry.ts';
import { pluginOrder } from './plugin-order.ts';
import type { ServerBlock } from './read-corefile.ts';

/** The plugins of a block, in query order. @param groups of all blocks */
export function placeFeatures(
  block: ServerBlock,
  groups: readonly ListenerGroupPlan[],
): readonly PluginUse[] {
  const { plugins } = block;
  const { nftset: rules = [], discovery: wanted } = findOptions(block, 'portolan') ?? {};
  // Logs and metrics come before the first plugin that answers or changes something.
  const filling = rules.length === 0 ? plugins : placePlugin(plugins, usePlugin(nftset, { rules }), 'local');
  if (wanted === undefined) return filling;
  const use = usePlugin(discovery, { ...wanted, listeners: listEncrypted(block, groups) });
  // Rules for clients, logs and caches come before the first plugin that answers names by data.
  return placePlugin(filling, use, 'template');
}

/** @param next the plugin that sees queries next, in the order of CoreDNS */
function placePlugin(plugins: readonly PluginUse[], use: PluginUse, next: string): readonly PluginUse[] {
  const order = pluginOrder('1.14');
  const place = plugins.findIndex(({ name }) => order.indexOf(name) >= order.indexOf(next));
  return place < 0 ? [...plugins, use] : plugins.toSpliced(place, 0, use);
}

/** The listeners that serve all zones of a block, so that a client loses no name by going to them. */
function listEncrypted(
  { keys }: ServerBlock,
  groups: readonly ListenerGroupPlan[],
): readonly EncryptedListener[] {
  return groups.flatMap(({ scheme, tls, server, address, port, sites }) => {
    // Others have no name in ALPN that a record could have.
    if ((scheme !== 'tls' && scheme !== 'https') || tls === undefined) return [];
    const servesAll = keys.every((key) => sites.some(({ zone }) => isWithin(key.zone, zone)));
    return servesAll ? { server, scheme, address, port, tls } : [];
  });
}
