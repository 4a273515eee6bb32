/**
 * The plugins of a block as the version before this one named them. A process of that version hands over its cache under a digest of
 * these names and options. The next version drops this table.
 */
import { findPluginOptions, type PluginUse } from '../../contract/plugin-use.ts';
import type { AnyOptions } from '../../plugins/any/any.ts';
import type { ChaosOptions } from '../../plugins/chaos/options.ts';
import type { EtcdOptions } from '../../plugins/etcd/options.ts';
import type { FormerUse } from './server-blocks-plan.ts';

/** Name and options in the version before. */
type FormerParts = readonly [name: string, options: unknown];

/** Undefined: the use is of another plugin. */
type WriteFormer = (use: PluginUse) => FormerParts | undefined;

const FORMER: readonly WriteFormer[] = [
  formerly<AnyOptions>('any', ({ policy }) =>
    policy === 'obsolete' ? ['any', undefined] : ['any-type', { policy }],
  ),
  formerly<EtcdOptions>('etcd', ({ kind: _, ...options }) => ['etcd', options]),
  formerly<ChaosOptions>('chaos', ({ kind, ...options }) => [
    kind === 'coredns' ? 'chaos' : 'identity',
    options,
  ]),
];

function formerly<Options>(name: string, write: (options: Options) => FormerParts): WriteFormer {
  return (use) => {
    const options = findPluginOptions<Options>([use], { name });
    return options === undefined ? undefined : write(options);
  };
}

/** @param plugins of a block, in order */
export function writeFormerUses(plugins: readonly PluginUse[]): readonly FormerUse[] {
  return plugins.map((use, place) => {
    const [former] = FORMER.flatMap((find) => {
      const found = find(use);
      return found === undefined ? [] : [found];
    });
    const [name, options] = former ?? [use.name, use.options];
    return { name, options, place };
  });
}
