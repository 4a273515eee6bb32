/**
 * Places in a block for further handlers of its plugins.
 */
import type { Plugin, PluginContext } from './plugin.ts';
import type { PluginDefinition, PluginUse } from './plugin-use.ts';
import { BLOCK } from './services.ts';

/** The place in a block for a further handler of a plugin that stands earlier. */
export function usePlace({ name }: PluginDefinition<string, never>, place: string): PluginUse {
  const create = (_: unknown, { use }: PluginContext): Plugin => ({
    handler: use(BLOCK).furtherHandler(name, place),
  });
  return { name: place, definition: { name: place, create }, options: undefined };
}
