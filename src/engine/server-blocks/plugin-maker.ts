/**
 * Makes the plugins of a front end from their definitions.
 */
import type { PluginName, PluginPlan } from '../../config/server/plugin-plan.ts';
import type { PluginDefinition, PluginModule } from '../../contract/define-plugin.ts';
import type { Plugin, PluginContext } from '../../contract/plugin.ts';

/** The plugins of a front end. */
export interface PluginMaker {
  /** Loads what few blocks need. To be awaited before such plugins are made. */
  load(names: Iterable<PluginName>): Promise<void>;
  /** @throws what the plugin itself says */
  make(plan: PluginPlan, context: PluginContext, former: Plugin | undefined): Plugin;
  /** Whether a plugin takes over from that of the same zones of the former plan, also where the block is another. */
  outlivesPlans(name: PluginName): boolean;
}

export function createPluginMaker(definitions: readonly PluginDefinition<string, unknown>[]): PluginMaker {
  const byName = new Map(definitions.map((definition) => [definition.name, definition]));
  const loaded = new Map<string, PluginModule<unknown>>();
  return {
    async load(names) {
      for (const name of new Set(names)) {
        const module = loaded.has(name) ? undefined : await byName.get(name)?.load?.();
        if (module !== undefined) loaded.set(name, module);
      }
    },
    make({ name, options }, context, former) {
      const definition = byName.get(name);
      const module = definition?.load === undefined ? definition : loaded.get(name);
      if (module === undefined) throw new TypeError(`plugin ${name} is not loaded`);
      return module.create === undefined ? { handler: undefined } : module.create(options, context, former);
    },
    outlivesPlans: (name) => byName.get(name)?.outlivesPlans === true,
  };
}
