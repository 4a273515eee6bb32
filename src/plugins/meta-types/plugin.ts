/**
 * `meta-types`: questions for types that no record has.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { metaTypesHandler } from './meta-types.ts';

export const metaTypes = definePlainPlugin({
  name: 'meta-types',
  create: (_: undefined) => ({ handler: metaTypesHandler }),
});
