/**
 * Loads the code of all plugins, for tests that make an engine where they cannot wait.
 */
import { loadPlugins } from '@portolan/kernel/contract/plugin-use.ts';
import { PLUGINS } from '../../src/plugins/registry.ts';

await loadPlugins(PLUGINS.map((definition) => ({ definition })));
