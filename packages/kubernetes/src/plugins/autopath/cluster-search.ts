/**
 * The search lists of pods, from the clusters that the block follows.
 */
import { isWithin, labelsBelow, parseKey, ROOT } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { canonicalClient } from '../../names/endpoints.ts';
import type { PodSearches, SearchingPod } from '../../names/pod-searches.ts';
import { computePodSearchList, searchListOfNodes } from './search-list.ts';

/** The cluster, as far as searches depend on it. */
export interface SearchedCluster {
  readonly serviceZones: readonly NameKey[];
  hasService(namespace: string, name: string): boolean;
  readonly searches: Pick<PodSearches, 'find' | 'all'> | undefined;
}

interface SearchedZone {
  readonly apex: NameKey;
  /** Above the names of all namespaces. */
  readonly services: NameKey;
}

export class ClusterSearch {
  /** The search list of the server; undefined: not known. */
  ownDomains: readonly NameKey[] | undefined;
  readonly #cluster: SearchedCluster;
  readonly #searchesServices: boolean;
  /** The longest first. */
  readonly #zones: readonly SearchedZone[];

  /** @param searchesServices whether names that may be those of services themselves are searched for too, as in CoreDNS */
  constructor(cluster: SearchedCluster, searchesServices: boolean) {
    this.#cluster = cluster;
    this.#searchesServices = searchesServices;
    this.#zones = cluster.serviceZones
      .map((apex) => ({ apex, services: parseKey(`svc.${apex === ROOT ? '' : apex}`) }))
      .sort((one, other) => other.apex.length - one.apex.length);
  }

  /** The domains above the first domains of all search lists. */
  get domains(): readonly NameKey[] {
    return this.#zones.map(({ services }) => services);
  }

  /** Whether the cluster is followed with its pods. */
  get knowsPods(): boolean {
    return this.#cluster.searches !== undefined;
  }

  /** Whether readers can search by these lists: the cluster has one domain. */
  get hasOneDomain(): boolean {
    return this.#zones.length === 1;
  }

  /** The list of the pod with an address, by the only domain of the cluster; undefined: not known. @param address canonical */
  listAt(address: string): readonly NameKey[] | undefined {
    const [zone] = this.#zones;
    const pod = zone && this.#cluster.searches?.find(address);
    return zone && pod && this.#createSearchList(pod, zone);
  }

  /** Whether pods of the cluster have an address, however they search. @param client as queries have it */
  hasPod(client: string): boolean {
    const address = canonicalClient(client);
    return address !== undefined && (this.#cluster.searches?.all(address).length ?? 0) > 0;
  }

  /** Undefined: it is not known, or a search for the name could find something else than the client wants. */
  listFor(name: NameKey, client: string): readonly NameKey[] | undefined {
    const zone = this.#zones.find(({ apex }) => isWithin(name, apex));
    const address = canonicalClient(client);
    if (zone === undefined || address === undefined) return undefined;
    const pod = this.#cluster.searches?.find(address);
    const list = pod && this.#createSearchList(pod, zone);
    if (list === undefined || (!this.#searchesServices && this.#mayBeMeant(name, zone))) return undefined;
    return list;
  }

  #createSearchList(pod: SearchingPod, { apex }: SearchedZone): readonly NameKey[] | undefined {
    return this.ownDomains && computePodSearchList(pod, apex, searchListOfNodes(this.ownDomains, apex));
  }

  /** Whether a name may be the whole name of a service or an endpoint that is missing now. */
  #mayBeMeant(name: NameKey, { services }: SearchedZone): boolean {
    const labels = labelsBelow(name, services);
    const [service, namespace] = labels.slice(-2);
    if (labels.length <= 2 || service === undefined || namespace === undefined) return true;
    return this.#cluster.hasService(namespace, service);
  }
}

/**
 * The list of the pod with an address, for clusters that are asked one after the other. It is known only if one of them alone has such a
 * pod: a name may be that of a service of any of them.
 *
 * @param clusters whose `hasService` knows the services of all
 */
export function listOfSeveral(
  clusters: readonly ClusterSearch[],
  name: NameKey,
  client: string,
): readonly NameKey[] | undefined {
  const [only, second] = clusters.filter((cluster) => cluster.hasPod(client));
  return second === undefined ? only?.listFor(name, client) : undefined;
}
