/**
 * `nftset`: addresses of answers for sets of nftables. `nftset` of the directive `portolan`, and the flags and options `--nftset`, put it
 * into a block.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { NftsetOptions } from './options.ts';

export const nftset = definePlugin({
  name: 'nftset',
  hasSideEffects: true,
  async load() {
    const [{ shareNftSets }, { Nftset }] = await Promise.all([
      import('./nft-sets.ts'),
      import('./nftset.ts'),
    ]);
    return {
      create: (options: NftsetOptions, { clock, log, metrics }) =>
        new Nftset(options, { useSets: () => shareNftSets({ clock, log, metrics }), clock, metrics }),
    };
  },
});
