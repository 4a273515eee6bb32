/**
 * Domains inside the cluster's zone whose names others answer: stub domains below it.
 */
import { isOfKubernetes } from '../../config/resolver/flags.ts';
import type { ForwardRule } from '../../forward/plan.ts';
import { isWithin } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';

/**
 * Names of services and pods stay ours whatever a rule says.
 *
 * @param cluster the apex of the cluster's zone
 */
export function* foreignDomains(rules: readonly ForwardRule[], cluster: NameKey): Iterable<NameKey> {
  for (const { names } of rules) {
    for (const match of names) {
      if (match.kind !== 'domain' || match.name === cluster || !isWithin(match.name, cluster)) continue;
      if (!isOfKubernetes(match.name, cluster)) yield match.name;
    }
  }
}
