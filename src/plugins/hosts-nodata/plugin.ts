/**
 * `hosts-nodata`: NODATA in place of REFUSED for names that `local-names` knows.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { LocalNamesPlugin } from '../local-names/local-names.ts';

export const hostsNodata = definePlainPlugin({
  name: 'hosts-nodata',
  create: (_: undefined, { find }) => ({ handler: find(LocalNamesPlugin)?.handlers.denyRefused }),
});
