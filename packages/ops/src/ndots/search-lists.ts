/**
 * What questions tell of the search list that made them, where no pod does: the namespace of a client, and the domains of its node.
 */
import { makeClusterFirstSearchList } from '@portolan/server/reasons/search-walk.ts';
import { listGivenNames } from './look-ups.ts';

/** Names that a domain has to be seen with: one could be a name of its own. */
const MIN_NAMES = 2;

/**
 * The namespace whose search list made names: it is in the first domain, and the names go on with the second one.
 *
 * @param domain of the cluster, with its final dot
 */
export function inferNamespace(names: ReadonlySet<string>, domain: string): string | undefined {
  const end = `.svc.${domain}`;
  const counts = new Map<string, number>();
  for (const name of names) {
    if (!name.endsWith(end)) continue;
    const labels = name.slice(0, -end.length).split('.');
    const namespace = labels.pop() ?? '';
    if (labels.length > 0 && names.has(`${labels.join('.')}${end}`))
      counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  }
  return listLargest(counts, 1)[0];
}

/**
 * The domains that names go on with behind those of a list. The kubelet takes them from the resolv.conf of the node.
 *
 * @param search begins with the domains of the cluster
 */
export function inferNodeDomains(names: ReadonlySet<string>, search: readonly string[]): readonly string[] {
  const [first = ''] = search;
  const searched = new Set(
    listGivenNames(names, first).filter((name) => search.every((domain) => names.has(`${name}.${domain}.`))),
  );
  const counts = new Map<string, number>();
  for (const name of names) {
    // What begins a search is no part of another.
    if (names.has(`${name}${first}.`) || search.some((domain) => name.endsWith(`.${domain}.`))) continue;
    for (const domain of listDomains(name, searched)) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  return listLargest(counts, Math.max(MIN_NAMES, searched.size / 2));
}

/** What may be behind a name that was searched for. */
function listDomains(name: string, searched: ReadonlySet<string>): readonly string[] {
  const labels = name.slice(0, -1).split('.');
  return labels
    .map((_, index) => index)
    .filter((index) => searched.has(labels.slice(0, index).join('.')))
    .map((index) => labels.slice(index).join('.'));
}

/** The keys that came at least so often, the most frequent first. */
function listLargest(counts: ReadonlyMap<string, number>, least: number): readonly string[] {
  return [...counts]
    .filter(([, count]) => count >= least)
    .sort(([one, count], [other, otherCount]) => otherCount - count || (one < other ? -1 : 1))
    .map(([key]) => key);
}

/** A list with the domains of the node behind those of the cluster. @param namespace of the pod */
export function insertNodeDomains(
  search: readonly string[],
  namespace: string,
  domain: string,
  names: ReadonlySet<string>,
): readonly string[] {
  const cluster = makeClusterFirstSearchList(namespace, domain);
  if (cluster.some((each, index) => search[index] !== each)) return search;
  return [...cluster, ...inferNodeDomains(names, search), ...search.slice(cluster.length)];
}
