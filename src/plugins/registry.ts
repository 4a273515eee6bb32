/**
 * What follows from the list of plugins: their names, the types of their options, their definitions by name.
 */
import type { CorefilePluginDefinition } from '../contract/define-plugin.ts';
import type { Position } from '../corefile/syntax/token.ts';
import * as definitions from './corefile-plugins.ts';

type Definition = (typeof definitions)[keyof typeof definitions];

type OptionsOf<Kind> = Kind extends CorefilePluginDefinition<string, infer Options> ? Options : never;

/** The options of each plugin that a Corefile may name. */
export type CorefilePluginOptions = {
  readonly [Each in Definition as Each['name']]: OptionsOf<Each>;
};

export type CorefilePluginName = keyof CorefilePluginOptions;

/** A plugin in a server block, with its options. */
export type PluginUse = {
  readonly [Name in CorefilePluginName]: {
    readonly name: Name;
    readonly options: CorefilePluginOptions[Name];
    /** Where it is named first. */
    readonly position: Position;
  };
}[CorefilePluginName];

/** All plugins that a Corefile may name. */
export const COREFILE_PLUGINS: readonly CorefilePluginDefinition<CorefilePluginName, unknown>[] =
  Object.values(definitions);

const byName = new Map<string, CorefilePluginDefinition<CorefilePluginName, unknown>>(
  COREFILE_PLUGINS.map((definition) => [definition.name, definition]),
);

/** Undefined: none of that name is built. */
export function findDefinition(
  name: string,
): CorefilePluginDefinition<CorefilePluginName, unknown> | undefined {
  return byName.get(name);
}
