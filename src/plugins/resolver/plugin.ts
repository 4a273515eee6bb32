/**
 * `resolver`: the cache, and behind it the upstream servers.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { ofKind } from '../../contract/plugin.ts';
import type { ResolverOptions } from './options.ts';
import { Resolving } from './resolving.ts';

export const resolver = definePlainPlugin({
  name: 'resolver',
  create: (options: ResolverOptions, context, former) =>
    new Resolving(options, context, ofKind(Resolving, former)),
});
