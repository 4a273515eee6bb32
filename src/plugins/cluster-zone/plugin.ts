/**
 * `cluster-zone`: the zone of the cluster.
 */
import { definePlugin } from '../../contract/define-plugin.ts';
import { ofKind } from '../../contract/plugin.ts';
import type { PluginModule } from '../../contract/plugin-use.ts';
import type { ClusterZoneOptions } from './options.ts';

export const clusterZone = definePlugin({
  name: 'cluster-zone',
  outlivesPlans: () => true,
  async load(): Promise<PluginModule<ClusterZoneOptions>> {
    const { ClusterZonePlugin } = await import('./cluster-zone.ts');
    return {
      create: (options, context, former) =>
        new ClusterZonePlugin(options, context, ofKind(ClusterZonePlugin, former)),
    };
  },
});
