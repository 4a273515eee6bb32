/**
 * Shows readers the search lists of pods, by address: an address is published exactly while the handler knows its list.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { encodeName } from '@portolan/dns/name.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { SearchLists } from '@portolan/kernel/table/search-lists.ts';
import type { PublicationId } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { PodSearches } from '../../names/pod-searches.ts';
import type { ClusterSearch } from './cluster-search.ts';

export interface PublishedListsDependencies {
  readonly cluster: Pick<ClusterSearch, 'listAt'>;
  readonly searches: Pick<PodSearches, 'watch'>;
  readonly table: TableWriter;
  readonly log: Log;
}

export class PublishedLists {
  readonly #dependencies: PublishedListsDependencies;
  readonly #lists: SearchLists;
  #endWatch: () => void = () => {};
  #isFull = false;

  constructor(dependencies: PublishedListsDependencies) {
    this.#dependencies = dependencies;
    this.#lists = new SearchLists(dependencies.table);
  }

  get publication(): PublicationId {
    return this.#lists.publication;
  }

  /** Call it when the search list of nodes is known. */
  start(): void {
    this.#endWatch = this.#dependencies.searches.watch((address) => this.#publish(address));
  }

  async stop(): Promise<void> {
    this.#endWatch();
    for (const _ of this.#lists.drop()) await new Promise((resolve) => setImmediate(resolve));
  }

  #publish(address: string): void {
    const octets = parseAddress(address);
    if (octets === undefined) return;
    const list = this.#dependencies.cluster.listAt(address);
    const hasRoom = this.#lists.set(octets, list?.map(encodeName));
    if (!hasRoom && !this.#isFull)
      this.#dependencies.log.error('names not published, the answer table is full', { of: 'search lists' });
    this.#isFull = !hasRoom;
  }
}
