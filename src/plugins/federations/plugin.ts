/**
 * `federations`: the federations that the cluster belongs to.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { ofKind } from '../../contract/plugin.ts';
import { FederationZones } from './federation-zones.ts';
import type { FederationsOptions } from './options.ts';

export const federations = definePlainPlugin({
  name: 'federations',
  create: (options: FederationsOptions, context, former) =>
    new FederationZones(options, context, ofKind(FederationZones, former)),
});
