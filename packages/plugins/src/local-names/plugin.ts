/**
 * `local-names`: hosts files and records of options. Two more handlers have places of their own in the block.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { ofKind } from '@portolan/kernel/contract/plugin.ts';
import type { PluginModule } from '@portolan/kernel/contract/plugin-use.ts';
import type { LocalNamesOptions } from './options.ts';

export const localNames = definePlugin({
  name: 'local-names',
  outlivesPlans: () => true,
  async load(): Promise<PluginModule<LocalNamesOptions>> {
    const { LocalNamesPlugin } = await import('./local-names.ts');
    return {
      create: (options, context, former) =>
        new LocalNamesPlugin(options, context, ofKind(LocalNamesPlugin, former)),
    };
  },
});
