/**
 * The name of a service in a federation: another name for the service here, or for the one that the federation knows.
 */

import { toKey } from '../../../wire/name.ts';
import type { AbsoluteName, NameKey } from '../../../wire/types.ts';
import type { ZoneNode } from '../../../zone/node.ts';
import { aliasNode } from './derive.ts';

/** Seconds: where the service is found may change with every endpoint, so kube-dns forbids caching it. */
const TTL = 0;

export function federationNode(name: NameKey, target: AbsoluteName): ZoneNode {
  return aliasNode({ name, host: { kind: 'name', target: toKey(target) }, port: 0 }, TTL);
}
