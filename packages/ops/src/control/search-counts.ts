/**
 * Rows of the names that search lists make, by the namespace of the pod. They are exact.
 */
import type { TopRow } from './top-counts.ts';

/** Namespaces beyond the bound of the counters. */
const OTHERS = '(others)';

/** @param before counts of an earlier time */
export function subtractCounts(
  now: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  return new Map(
    Array.from(now, ([key, count]) => [key, count - (before.get(key) ?? 0)] as const).filter(
      ([, count]) => count > 0,
    ),
  );
}

/**
 * The largest counts. What is no namespace is the end of a name from outside: `www.example.com.svc.cluster.local`.
 *
 * @param rows at most
 */
export function searchRows(
  counts: ReadonlyMap<string, number>,
  rows: number,
  isNamespace: (label: string) => boolean,
): readonly TopRow[] {
  const joined = new Map<string, number>();
  for (const [label, count] of counts) {
    const what = label !== '' && isNamespace(label) ? label : OTHERS;
    joined.set(what, (joined.get(what) ?? 0) + count);
  }
  return Array.from(joined, ([what, count]) => ({ what, count }))
    .sort((one, other) => other.count - one.count || (one.what < other.what ? -1 : 1))
    .slice(0, rows);
}
