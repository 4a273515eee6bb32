/**
 * Which branches of the name space hold answers that a change of names may have made wrong.
 */
import { ROOT, splitLabels } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';

/** More branches than this are the whole tree. */
const MAX_BRANCHES = 16;

/**
 * The domains to forget. Whether a name is denied depends on names below it too, so the branch of a name is what most people
 * call its domain: its last two labels.
 */
export function branchesOf(names: Iterable<NameKey>): readonly NameKey[] {
  const branches = new Set<NameKey>();
  for (const name of names) {
    branches.add(branchOf(name));
    if (branches.size > MAX_BRANCHES) return [ROOT];
  }
  return [...branches];
}

function branchOf(name: NameKey): NameKey {
  const labels = splitLabels(name);
  if (labels.length < 3) return name;
  // Whole labels of a key.
  return `${labels.slice(-2).join('.')}.` as NameKey;
}
