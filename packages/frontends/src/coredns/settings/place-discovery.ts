/**
 * Puts the plugin `discovery` into server blocks whose `portolan` asks for it.
 */
import { isWithin } from '@portolan/dns/name.ts';
import { type PluginUse, usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import type { ListenerGroupPlan } from '@portolan/kernel/plan/server-blocks-plan.ts';
import type { EncryptedListener } from '@portolan/plugins/discovery/options.ts';
import { discovery } from '@portolan/plugins/discovery/plugin.ts';
import { findOptions } from '../../plugins/registry.ts';
import { pluginOrder } from './plugin-order.ts';
import type { ServerBlock } from './read-corefile.ts';

/** The first plugin that answers names by data: rules for clients, logs and caches come before it. */
const NEXT = 'template';

/** The plugins of a block, in query order. @param groups of all blocks */
export function placeDiscovery(
  block: ServerBlock,
  groups: readonly ListenerGroupPlan[],
): readonly PluginUse[] {
  const { plugins } = block;
  const wanted = findOptions(block, 'portolan')?.discovery;
  if (wanted === undefined) return plugins;
  const use = usePlugin(discovery, { ...wanted, listeners: listEncrypted(block, groups) });
  const order = pluginOrder('1.14');
  const place = plugins.findIndex(({ name }) => order.indexOf(name) >= order.indexOf(NEXT));
  return place < 0 ? [...plugins, use] : [...plugins.slice(0, place), use, ...plugins.slice(place)];
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
