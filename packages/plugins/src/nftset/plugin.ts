/**
 * `nftset`: addresses of answers for sets of nftables. `nftset` of the directive `portolan`, and the flags and options `--nftset`, put it
 * into a block.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { shareNftSets } from './nft-sets.ts';
import { Nftset } from './nftset.ts';
import type { NftsetOptions } from './options.ts';

export const nftset = definePlugin({
  name: 'nftset',
  hasSideEffects: true,
  create: (options: NftsetOptions, { clock, log, metrics }) =>
    new Nftset(options, { useSets: () => shareNftSets({ clock, log, metrics }), clock, metrics }),
});
