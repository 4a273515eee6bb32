/**
 * The output of `-plugins`: the plugins that a Corefile may name.
 */
import { COREFILE_PLUGINS } from '../../plugins/registry.ts';

/** In CoreDNS's format: one per line in alphabetical order, then an empty line. */
export function listPlugins(): string {
  const names = COREFILE_PLUGINS.map(({ name }) => name).toSorted();
  return `${names.join('\n')}\n\n`;
}
