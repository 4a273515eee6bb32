/**
 * `probes`: drops our own loop probes that a server has sent back.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { Forward } from '../forward/forward.ts';
import { createProbesHandler } from './probes.ts';

export const probes = definePlainPlugin({
  name: 'probes',
  create: (_: undefined, { find }) => ({
    handler: createProbesHandler((question) => find(Forward)?.isOwnProbe(question) === true),
  }),
});
