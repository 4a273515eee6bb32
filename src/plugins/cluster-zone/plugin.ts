/**
 * `cluster-zone`: the zone of the cluster.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { ofKind } from '../../contract/plugin.ts';
import { ClusterZone } from './cluster-zone.ts';
import type { ClusterZoneOptions } from './options.ts';

export const clusterZone = definePlainPlugin({
  name: 'cluster-zone',
  create: (options: ClusterZoneOptions, context, former) =>
    new ClusterZone(options, context, ofKind(ClusterZone, former)),
});
