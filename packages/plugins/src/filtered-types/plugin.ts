/**
 * `filtered-types`: types of records that are left out of answers about names of the cluster.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { isOwned } from '@portolan/kernel/contract/name-owner.ts';
import { createTypeFilter } from '../forward/filtered-types.ts';

export interface FilteredTypesOptions {
  readonly types: ReadonlySet<number>;
}

export const filteredTypes = definePlugin({
  name: 'filtered-types',
  create: ({ types }: FilteredTypesOptions, context) => ({
    handler: createTypeFilter(types, isOwned(context)),
  }),
});
