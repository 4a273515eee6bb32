/**
 * `etcd-zones`: zones whose names come from an etcd, as in SkyDNS.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { ofKind } from '../../contract/plugin.ts';
import type { PluginModule } from '../../contract/plugin-use.ts';
import type { EtcdZonesOptions } from './options.ts';

export const etcdZones = definePlainPlugin({
  name: 'etcd-zones',
  async load(): Promise<PluginModule<EtcdZonesOptions>> {
    const { EtcdZones } = await import('./etcd-zones.ts');
    return {
      create: (options, context, former) => new EtcdZones(options, context, ofKind(EtcdZones, former)),
    };
  },
});
