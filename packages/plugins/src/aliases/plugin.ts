/**
 * `aliases`: follows aliases to names of other plugins.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { createAliasFollower } from './alias.ts';

export const aliases = definePlugin({
  name: 'aliases',
  create: (_: undefined, { log, clock }) => ({ handler: createAliasFollower(log, clock) }),
});
