/**
 * How a plugin is defined: its name, how its directive is read, how it is made from its options.
 */
import type { Directive } from '../corefile/directive/directive.ts';
import type { Plugin, PluginContext } from './plugin.ts';

/** Makes a plugin from its options. A method, so that a list may hold the makers of all plugins. */
export interface PluginModule<Options> {
  /**
   * @param former the same plugin of the block that answers until this one does: what it has gathered may be taken over, and it is
   *   not to be kept
   */
  create(options: Options, context: PluginContext, former: Plugin | undefined): Plugin;
}

/** With neither `create` nor `load` it is a setting of its block or of the process, which is read elsewhere. */
export interface PluginDefinition<Name extends string, Options> extends Partial<PluginModule<Options>> {
  readonly name: Name;
  /** Whether it takes over from that of the same zones of the former plan, also where the block is another. */
  readonly outlivesPlans?: true;
  /** In place of `create` where it has much code of its own: loads it for blocks that have the plugin. */
  load?(): Promise<PluginModule<Options>>;
}

/** A plugin that a Corefile may name. */
export interface CorefilePluginDefinition<Name extends string, Options>
  extends PluginDefinition<Name, Options>,
    Directive<Options> {
  /** The plugin that sees queries next, where CoreDNS has none of this name. */
  readonly before?: string;
  /** It answers questions by itself. */
  readonly answers?: true;
  /** It sees queries or answers and no other front end has it, so `--blocks-extra` may name it. */
  readonly joinsBlocks?: true;
}

/** Keeps the name and the options of a definition as its type, from which the registry derives its own. */
export function definePlugin<const Name extends string, Options>(
  definition: CorefilePluginDefinition<Name, Options>,
): CorefilePluginDefinition<Name, Options> {
  return definition;
}

/** The same of a plugin of our own front ends, which no Corefile names. What it has gathered outlives plans. */
export function definePlainPlugin<const Name extends string, Options>(
  definition: Omit<PluginDefinition<Name, Options>, 'outlivesPlans'>,
): PluginDefinition<Name, Options> {
  return { ...definition, outlivesPlans: true };
}
