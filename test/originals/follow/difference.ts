/**
 * A difference between an original and our tables, as one line.
 */
import type { Names } from './ours.ts';

export interface Difference {
  /** `coredns`, `kube-dns`, `node-cache`, `autoscaler`, or a manifest. */
  readonly original: string;
  readonly subject: 'flag' | 'variable' | 'plugin' | 'order' | 'directive' | 'metric' | 'manifest';
  readonly name: string;
  readonly text: string;
}

/** By which a known difference is found. */
export const toDifferenceKey = ({ original, subject, name }: Difference): string =>
  `${original} ${subject} ${name}`;

/** What `theirs` has and `ours` does not. */
export function missingFrom(
  ours: Names,
  theirs: Iterable<string>,
  describe: (name: string) => Difference,
): readonly Difference[] {
  return [...new Set(theirs)].filter((name) => !ours.has(name)).map(describe);
}
