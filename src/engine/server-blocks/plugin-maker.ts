/**
 * Makes the plugins of a front end from their definitions.
 */
import type { PluginName, PluginPlan } from '../../config/server/plugin-plan.ts';
import type { PluginDefinition, PluginModule } from '../../contract/define-plugin.ts';
import type { Plugin, PluginContext } from '../../contract/plugin.ts';

/** The plugins of a front end. */
export interface PluginMaker {
  /** Loads plugins that few blocks need. Await it before you make them. */
  load(names: Iterable<PluginName>): Promise<void>;
  /** @throws the error of the plugin */
  make(plan: PluginPlan, context: PluginContext, former: Plugin | undefined): Plugin;
  /** Whether a plugin takes over from the plugin of the same zones in the former plan, even if the block differs. */
  outlivesPlans(plan: PluginPlan): boolean;
}

/** Finds a definition by its name. */
export type FindDefinition = (name: string) => PluginDefinition<string, unknown> | undefined;

export function createPluginMaker(find: FindDefinition): PluginMaker {
  const loaded = new Map<string, PluginModule<unknown>>();
  return {
    async load(names) {
      for (const name of new Set(names)) {
        const module = loaded.has(name) ? undefined : await find(name)?.load?.();
        if (module !== undefined) loaded.set(name, module);
      }
    },
    make({ name, options }, context, former) {
      const definition = find(name);
      const module = definition?.load === undefined ? definition : loaded.get(name);
      if (module === undefined) throw new TypeError(`plugin ${name} is not loaded`);
      return module.create === undefined ? { handler: undefined } : module.create(options, context, former);
    },
    outlivesPlans: ({ name, options }) => find(name)?.outlivesPlans?.(options) === true,
  };
}

/** @param definitions that stay the same */
export function finderIn(definitions: readonly PluginDefinition<string, unknown>[]): FindDefinition {
  const byName = new Map(definitions.map((definition) => [definition.name, definition]));
  return (name) => byName.get(name);
}
