/**
 * The name of a service in a federation: an alias for the local service, or for the federation's service.
 */

import { toKey } from '../../../wire/name.ts';
import type { AbsoluteName, NameKey } from '../../../wire/types.ts';
import type { ZoneNode } from '../../../zone/node.ts';
import { aliasNode } from './derive.ts';

/** Seconds: the target may change with every endpoint, so kube-dns forbids caching it. */
const TTL = 0;

export function federationNode(name: NameKey, target: AbsoluteName): ZoneNode {
  return aliasNode({ name, host: { kind: 'name', target: toKey(target) }, port: 0 }, TTL);
}
