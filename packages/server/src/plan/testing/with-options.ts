/**
 * Changes the options of plugins in plans, for tests.
 */
import { findPluginOptions, type PluginDefinition, usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import { mapUses, pluginUses } from '@portolan/kernel/plan/server-blocks-plan.ts';

/** The options of the first use of a plugin. @throws Error if there is none */
export function optionsIn<Options>(plan: EnginePlan, definition: PluginDefinition<string, Options>): Options {
  const options = findPluginOptions(pluginUses(plan), definition);
  if (options === undefined) throw new Error(`no plugin ${definition.name}`);
  return options;
}

/** The same plan, with changed options of all uses of a plugin. */
export function withOptions<Options>(
  plan: EnginePlan,
  definition: PluginDefinition<string, Options>,
  change: (options: Options) => Options,
): EnginePlan {
  return mapUses(plan, (use) => {
    const options = findPluginOptions([use], definition);
    return options === undefined ? use : usePlugin(definition, change(options));
  });
}
