/**
 * Changes the options of plugins in plans, for tests.
 */
import type { EnginePlan } from '../engine-plan.ts';
import type { PluginName, PluginOptions, PluginPlan } from '../plugin-plan.ts';
import { optionsOf } from '../server-blocks-plan.ts';

/** The options of the first plugin with this name. @throws Error if there is no such plugin */
export function optionsIn<Name extends PluginName>({ blocks }: EnginePlan, name: Name): PluginOptions[Name] {
  const block = blocks.find(({ plugins }) => plugins.some((plugin) => plugin.name === name));
  if (block === undefined) throw new Error(`no plugin ${name}`);
  return optionsOf(block, name) as PluginOptions[Name];
}

/** The same plan, with changed options of all plugins with this name. */
export function withOptions<Name extends PluginName>(
  plan: EnginePlan,
  name: Name,
  change: (options: PluginOptions[Name]) => PluginOptions[Name],
): EnginePlan {
  const changed = (plugin: PluginPlan): PluginPlan =>
    plugin.name === name
      ? ({ name, options: change(plugin.options as PluginOptions[Name]) } as PluginPlan)
      : plugin;
  const blocks = plan.blocks.map((block) => ({ ...block, plugins: block.plugins.map(changed) }));
  return { ...plan, blocks };
}
