/**
 * How a plugin is defined: its name, how its directive is read, how it is made from its options.
 */
import type { PluginDefinition } from '@portolan/kernel/contract/plugin-use.ts';
import type { Directive } from '../directive/directive.ts';

/**
 * A plugin that a Corefile may name, since it has a directive.
 *
 * @typeParam Read what the directive gives, where front ends write other options too
 */
export interface CorefilePluginDefinition<Name extends string, Options, Read extends Options = Options>
  extends PluginDefinition<Name, Options>,
    Directive<Read> {
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
): CorefilePluginDefinition<Name, Options>;
/** The same for a plugin that has other options too. */
export function definePlugin<const Name extends string, Options, Read extends Options>(
  definition: CorefilePluginDefinition<Name, Options, Read>,
): CorefilePluginDefinition<Name, Options, Read>;
/** The same for a plugin without a directive, which only our own front ends write. */
export function definePlugin<const Name extends string, Options>(
  definition: PluginDefinition<Name, Options>,
): PluginDefinition<Name, Options>;
export function definePlugin<Definition>(definition: Definition): Definition {
  return definition;
}
