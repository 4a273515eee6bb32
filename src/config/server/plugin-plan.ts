/**
 * A plugin of a server block with its settings, whose types are in `plugins/NAME/options.ts`.
 */
import type { CorefilePluginOptions, PlainPluginOptions } from '../../plugins/registry.ts';

/** The settings of each plugin, by its name. */
export interface PluginOptions extends CorefilePluginOptions, PlainPluginOptions {}

export type PluginName = keyof PluginOptions;

export type PluginPlan = {
  readonly [Name in PluginName]: { readonly name: Name; readonly options: PluginOptions[Name] };
}[PluginName];
