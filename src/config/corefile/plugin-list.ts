/**
 * What `-plugins` prints: the plugins that a Corefile may name.
 */
import { COREFILE_PLUGINS } from '../../plugins/registry.ts';

/** As CoreDNS prints its own: one in a line, in alphabetical order, and an empty line behind them. */
export function listPlugins(): string {
  const names = COREFILE_PLUGINS.map(({ name }) => name).toSorted();
  return `${names.join('\n')}\n\n`;
}
