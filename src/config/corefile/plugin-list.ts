/**
 * What `-plugins` prints: the plugins that a Corefile may name.
 */
import { pluginOrder } from './plugin-order.ts';
import { isBuilt } from './registry.ts';

/** As CoreDNS prints its own: one in a line, in alphabetical order, and an empty line behind them. */
export function listPlugins(): string {
  const names = pluginOrder('1.14').filter(isBuilt).toSorted();
  return `${names.join('\n')}\n\n`;
}
