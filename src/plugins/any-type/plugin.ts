/**
 * `any-type`: questions for ANY about names of the cluster.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { isOfCluster } from '../cluster-zone/zone-of-cluster.ts';
import { createAnyHandler } from './any.ts';
import type { AnyTypeOptions } from './options.ts';

export const anyType = definePlainPlugin({
  name: 'any-type',
  create: ({ policy }: AnyTypeOptions, context) => ({
    handler: createAnyHandler(policy, isOfCluster(context)),
  }),
});
