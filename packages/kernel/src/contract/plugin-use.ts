/**
 * A plugin of a block, bound to its options where they are read. The engine makes it, and does not know what the options are.
 */
import type { Plugin, PluginContext } from './plugin.ts';

/** Makes a plugin from its options. A method, so that a list may hold the makers of all plugins. */
export interface PluginModule<Options> {
  /**
   * @param former the same plugin in the former block: take over its data, but keep no reference to it
   */
  create(options: Options, context: PluginContext, former: Plugin | undefined): Plugin;
}

/** With neither `create` nor `load` it is a setting of its block or of the process, which is read elsewhere. */
export interface PluginDefinition<Name extends string, Options> extends Partial<PluginModule<Options>> {
  readonly name: Name;
  /** It writes or sends something beside answers, so commands that only compare answers leave it out. */
  readonly hasSideEffects?: true;
  /** Whether it follows a cluster's API server once it has started. Default: no. */
  followsApiServer?(options: Options): boolean;
  /** Whether it takes over from the plugin of the same zones in the former plan, even if the block differs. Default: no. */
  outlivesPlans?(options: Options): boolean;
  /** Replaces `create` for plugins with much code: loads it only for blocks that have the plugin. */
  load?(): Promise<PluginModule<Options>>;
}

export interface PluginUse {
  readonly name: string;
  readonly definition: PluginDefinition<string, unknown>;
  /** Of the type that the definition takes. */
  readonly options: unknown;
}

/** Binds a plugin to its options. */
export function usePlugin<Options>(
  definition: PluginDefinition<string, Options>,
  options: Options,
): PluginUse {
  return { name: definition.name, definition, options };
}

/** The options of the first use of a plugin; undefined: there is none. */
export function findPluginOptions<Options>(
  uses: readonly PluginUse[] | undefined,
  { name }: PluginDefinition<string, Options>,
): Options | undefined {
  // A name has one definition, which has made or read the options.
  return uses?.find((use) => use.name === name)?.options as Options | undefined;
}

/** The code of plugins that are loaded late. */
const loaded = new Map<PluginDefinition<string, unknown>, PluginModule<unknown>>();

/** Loads the code that few blocks need. Await it before you make these plugins. */
export async function loadPlugins(uses: readonly Pick<PluginUse, 'definition'>[]): Promise<void> {
  for (const { definition } of uses) {
    const module = loaded.has(definition) ? undefined : await definition.load?.();
    if (module !== undefined) loaded.set(definition, module);
  }
}

/** @throws the error of the plugin */
export function makePlugin(
  { name, definition, options }: PluginUse,
  context: PluginContext,
  former: Plugin | undefined,
): Plugin {
  const module = definition.load === undefined ? definition : loaded.get(definition);
  if (module === undefined) throw new TypeError(`plugin ${name} is not loaded`);
  return module.create === undefined ? { handler: undefined } : module.create(options, context, former);
}
