/**
 * The cluster's zone as kube-dns prints its tree of names at `/cache`: JSON, labels from the root of DNS inwards, each level
 * with its children and its entries, in the order of their names.
 *
 * It is made from the objects when it is asked for, in pieces of one service each. What changes meanwhile is shown as it is
 * when its turn comes.
 */
import type { NameKey } from '../../wire/types.ts';
import type { ServiceDirectory, ServiceView } from '../dialect.ts';
import { cacheEntry, type CacheNode, serviceNode } from './cache-node.ts';

type Pieces = Generator<string, void>;

const INDENT = '\t';

/** @param domain the cluster's domain */
export function* writeCacheTree(domain: NameKey, directory: ServiceDirectory): Pieces {
  const labels = ['svc', ...domain.split('.').filter((label) => label !== '')].reverse();
  yield* writePath([...labels.slice(0, -1), 'svc'], 0, directory);
}
