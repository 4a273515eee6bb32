/**
 * `cluster-zone`: the zone of the cluster.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { ofKind } from '../../contract/plugin.ts';
import { ClusterZonePlugin } from './cluster-zone.ts';
import type { ClusterZoneOptions } from './options.ts';

export const clusterZone = definePlainPlugin({
  name: 'cluster-zone',
  create: (options: ClusterZoneOptions, context, former) =>
    new ClusterZonePlugin(options, context, ofKind(ClusterZonePlugin, former)),
});
