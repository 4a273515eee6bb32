/**
 * How a plugin is defined: its name, how its directive is read, how it is made from its options.
 */
import type { Directive } from '../corefile/directive/directive.ts';
import type { PluginDefinition } from './plugin-use.ts';

/** A plugin that a Corefile may name. */
export interface CorefilePluginDefinition<Name extends string, Options>
  extends PluginDefinition<Name, Options>,
    Directive<Options> {
  /** The plugin that sees queries next; for plugins that CoreDNS does not have. */
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

/** The same for a plugin of our own front ends, which Corefiles cannot name. Its data outlives plans. */
export function definePlainPlugin<const Name extends string, Options>(
  definition: Omit<PluginDefinition<Name, Options>, 'outlivesPlans'>,
): PluginDefinition<Name, Options> {
  return { ...definition, outlivesPlans: () => true };
}
