/**
 * `stub-zones`: lets queries for zones with their own servers skip the plugins in between.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import type { StubZonesOptions } from './options.ts';
import { StubZones } from './stub-zones.ts';

export const stubZones = definePlainPlugin({
  name: 'stub-zones',
  create: (options: StubZonesOptions, context) => new StubZones(options, context),
});
