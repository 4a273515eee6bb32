/**
 * `aliases`: follows aliases to names of other plugins.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { createAliasFollower } from './alias.ts';

export const aliases = definePlainPlugin({
  name: 'aliases',
  create: (_: undefined, { log, clock }) => ({ handler: createAliasFollower(log, clock) }),
});
