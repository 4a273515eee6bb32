/**
 * Finds the branches of the name space whose answers a change of names may have outdated.
 */
import { ROOT, splitLabels } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';

/** More branches count as the whole tree. */
const MAX_BRANCHES = 16;

/**
 * The domains to drop from caches. A denial of a name also depends on names below it, so the branch of a name is its last two
 * labels, which most people call its domain.
 */
export function listBranches(names: Iterable<NameKey>): readonly NameKey[] {
  const branches = new Set<NameKey>();
  for (const name of names) {
    branches.add(toBranch(name));
    if (branches.size > MAX_BRANCHES) return [ROOT];
  }
  return [...branches];
}

function toBranch(name: NameKey): NameKey {
  const labels = splitLabels(name);
  if (labels.length < 3) return name;
  // The last labels of a key make a key.
  return `${labels.slice(-2).join('.')}.` as NameKey;
}
