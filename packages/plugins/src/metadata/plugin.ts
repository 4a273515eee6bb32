/**
 * `metadata`: makes facts about queries known by labels. Source: plugin/metadata of CoreDNS 1.14.7.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { zonesOrBlock } from '@portolan/corefile/directive/directive.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { MetadataPlugin } from './metadata.ts';

export interface MetadataOptions {
  /** As in CoreDNS, they have no effect: facts are collected for all names. */
  readonly zones: readonly NameKey[];
}

/** `metadata [ZONES…]`. Plugins note facts in the query or are asked for them; this one lets others read them. */
export const metadata = definePlugin({
  name: 'metadata',
  syntax: ['metadata [ZONES…]'],
  read(cursor, context): MetadataOptions {
    let zones = context.zones;
    let uses = 0;
    cursor.eachUse(() => {
      uses += 1;
      if (uses > 1) throw cursor.argumentError('Write it once, with all zones.');
      zones = zonesOrBlock(cursor.remainingArguments(), context);
      if (cursor.nextInBlock()) throw cursor.argumentError('It has no block.');
    });
    return { zones };
  },
  create: () => new MetadataPlugin(),
});
