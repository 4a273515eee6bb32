/**
 * The plugins of all front ends, for tests that take plans of any of them.
 */
import { isPlainPlugin, plainPlugins } from '../plain-plugins/plain-plugins.ts';
import type { PluginMaker } from '../server-blocks/plugin.ts';
import { corefilePlugins } from '../server-blocks/plugins.ts';

const makerOf = (name: string): PluginMaker => (isPlainPlugin(name) ? plainPlugins : corefilePlugins);

export const allPlugins: PluginMaker = {
  async load(names) {
    const all = [...names];
    await plainPlugins.load(all);
    await corefilePlugins.load(all);
  },
  make: (plan, context, former) => makerOf(plan.name).make(plan, context, former),
  outlivesPlans: (name) => makerOf(name).outlivesPlans(name),
};

// A constructor cannot wait.
await allPlugins.load(['etcd', 'etcd-zones', 'kubernetes']);
