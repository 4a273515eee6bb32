/**
 * Derived from the list of plugins: those that a Corefile may name, the types of their options, their definitions by name.
 */
import type { CorefilePluginDefinition } from '@portolan/corefile/definition/define-plugin.ts';
import type { Directive } from '@portolan/corefile/directive/directive.ts';
import type { Position } from '@portolan/corefile/syntax/token.ts';
import {
  findPluginOptions,
  type PluginDefinition,
  type PluginUse,
} from '@portolan/kernel/contract/plugin-use.ts';
import * as definitions from './plugins.ts';

type OptionsByName<Each extends PluginDefinition<string, unknown> & Directive<unknown>> = {
  readonly [One in Each as One['name']]: ReturnType<One['read']>;
};

type ListedPlugin = (typeof definitions)[keyof typeof definitions];

/** The options of each plugin that a Corefile may name, as its directive gives them. */
export type CorefilePluginOptions = OptionsByName<Extract<ListedPlugin, Directive<unknown>>>;

export type CorefilePluginName = keyof CorefilePluginOptions;

/** A plugin in a block of a Corefile. */
export type CorefileUse<Plugin extends CorefilePluginName = CorefilePluginName> = {
  readonly [Name in Plugin]: PluginUse & {
    readonly name: Name;
    readonly options: CorefilePluginOptions[Name];
    /** The first place that names it. */
    readonly position: Position;
  };
}[Plugin];

/** The options of a plugin in a block; undefined if the block does not have the plugin. */
export function findOptions<Name extends CorefilePluginName>(
  { plugins }: { readonly plugins: readonly CorefileUse[] },
  name: Name,
): CorefilePluginOptions[Name] | undefined {
  return findPluginOptions<CorefilePluginOptions[Name]>(plugins, { name });
}

/** All plugins. */
export const PLUGINS: readonly PluginDefinition<string, unknown>[] = Object.values(definitions);

const all: CorefilePluginDefinition<CorefilePluginName, unknown>[] = Object.values(definitions).filter(
  (definition) => 'syntax' in definition,
);

/** All plugins that a Corefile may name, with those of others that were registered. */
export const COREFILE_PLUGINS: readonly CorefilePluginDefinition<CorefilePluginName, unknown>[] = all;

const byName = new Map<string, CorefilePluginDefinition<CorefilePluginName, unknown>>(
  COREFILE_PLUGINS.map((definition) => [definition.name, definition]),
);

/** Adds a plugin of others for the life of the process, before any Corefile is read. */
export function registerPlugin(definition: CorefilePluginDefinition<string, unknown>): void {
  // No code of our own names it, so no type does.
  const own = definition as CorefilePluginDefinition<CorefilePluginName, unknown>;
  all.push(own);
  byName.set(own.name, own);
}

/** undefined: no such plugin. */
export function findDefinition(
  name: string,
): CorefilePluginDefinition<CorefilePluginName, unknown> | undefined {
  return byName.get(name);
}
