/**
 * `federations`: the federations that the cluster belongs to.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { ofKind } from '@portolan/kernel/contract/plugin.ts';
import type { PluginModule } from '@portolan/kernel/contract/plugin-use.ts';
import type { FederationsOptions } from './options.ts';

export const federations = definePlugin({
  name: 'federations',
  outlivesPlans: () => true,
  async load(): Promise<PluginModule<FederationsOptions>> {
    const { FederationZones } = await import('./federation-zones.ts');
    return {
      create: (options, context, former) =>
        new FederationZones(options, context, ofKind(FederationZones, former)),
    };
  },
});
