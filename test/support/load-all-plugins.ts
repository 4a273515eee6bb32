/**
 * Loads the code of all plugins, for tests that make an engine where they cannot wait.
 */
import { PLUGINS } from '@portolan/frontends/plugins/registry.ts';
import { loadPlugins } from '@portolan/kernel/contract/plugin-use.ts';

await loadPlugins(PLUGINS.map((definition) => ({ definition })));
