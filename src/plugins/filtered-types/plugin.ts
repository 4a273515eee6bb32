/**
 * `filtered-types`: types of records that are left out of answers about names of the cluster.
 */
import { definePlugin } from '../../contract/define-plugin.ts';
import { isOfCluster } from '../cluster-zone/zone-of-cluster.ts';
import { createTypeFilter } from '../forward/filtered-types.ts';

export interface FilteredTypesOptions {
  readonly types: ReadonlySet<number>;
}

export const filteredTypes = definePlugin({
  name: 'filtered-types',
  create: ({ types }: FilteredTypesOptions, context) => ({
    handler: createTypeFilter(types, isOfCluster(context)),
  }),
});
