/**
 * Stub zones inside the cluster's zone: their names are asked of other servers.
 */
import { isOfKubernetes } from '../config/serve/resolver-flags.ts';
import type { ForwardRule } from '../forward/forward-plan.ts';
import { isWithin } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';

/**
 * The domains inside the cluster's zone that have servers of their own. Names of services and pods are never among them,
 * whatever a rule says.
 *
 * @param cluster the apex of the cluster's zone
 */
export function* namesForwardedWithin(rules: readonly ForwardRule[], cluster: NameKey): Iterable<NameKey> {
  for (const { names } of rules) {
    for (const match of names) {
      if (match.kind !== 'domain' || match.name === cluster || !isWithin(match.name, cluster)) continue;
      if (!isOfKubernetes(match.name, cluster)) yield match.name;
    }
  }
}
