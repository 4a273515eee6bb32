/**
 * The plugins of all front ends, for plans that have those of a Corefile beside our own.
 */

import { corefilePlugins } from './corefile-plugins.ts';
import { isPlainPlugin, plainPlugins } from './plain-plugins/plain-plugins.ts';
import type { PluginMaker } from './server-blocks/plugin-maker.ts';

const makerOf = (name: string): PluginMaker => (isPlainPlugin(name) ? plainPlugins : corefilePlugins);

export const allPlugins: PluginMaker = {
  async load(names) {
    const all = [...names];
    await plainPlugins.load(all.filter(isPlainPlugin));
    await corefilePlugins.load(all.filter((name) => !isPlainPlugin(name)));
  },
  make: (plan, context, former) => makerOf(plan.name).make(plan, context, former),
  outlivesPlans: (name) => makerOf(name).outlivesPlans(name),
};
