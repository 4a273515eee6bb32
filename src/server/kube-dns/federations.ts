/**
 * The federations of now: their names in the table, left to the chain, and the nodes that say where this cluster stands.
 * Nodes are followed while there is a federation, and only then.
 */
import type { Log } from '../../ground/log.ts';
import type { FederationSource } from '../../handlers/federation/federation.ts';
import type { Federation } from '../../handlers/federation/plan.ts';
import { nameBelow } from '../../kube/labels.ts';
import { type ClusterPlace, NodePlaces } from '../../kube/node-places.ts';
import type { TableWriter } from '../../table/writer.ts';
import type { NameKey } from '../../wire/types.ts';
import { AskedDomains } from '../asked-domains.ts';
import type { Following } from '../object-source.ts';

/** @returns nothing where there are no nodes to follow */
export type FollowNodes = (places: NodePlaces) => Following | undefined;

export class Federations implements FederationSource {
  readonly domain: NameKey;
  readonly #asked: AskedDomains;
  #domains: ReadonlyMap<string, NameKey> = new Map();
  #places = new NodePlaces();
  #follow: FollowNodes | undefined;
  #following: Following | undefined;
  #stopped: Promise<void> = Promise.resolve();

  /** @param domain the cluster's */
  constructor(domain: NameKey, table: TableWriter, log: Log) {
    this.domain = domain;
    this.#asked = new AskedDomains(table, log);
  }

  domainOf(federation: string): NameKey | undefined {
    return this.#domains.get(federation);
  }

  get place(): ClusterPlace {
    return this.#places.place;
  }

  /** The watch of nodes, while there is one. */
  get following(): Following | undefined {
    return this.#following;
  }

  replace(federations: readonly Federation[]): void {
    this.#domains = new Map(federations.map(({ name, domain }) => [name, domain]));
    this.#asked.replace(federations.flatMap(({ name }) => nameBelow(`${name}.svc`, this.domain) ?? []));
    this.#followIfNeeded();
  }

  /** Follows nodes from now on whenever they are needed. */
  start(follow: FollowNodes): void {
    this.#follow = follow;
    this.#followIfNeeded();
  }

  async stop(): Promise<void> {
    this.#follow = undefined;
    this.#endFollowing();
    await this.#stopped;
  }

  #followIfNeeded(): void {
    if (this.#domains.size === 0) this.#endFollowing();
    else if (this.#follow !== undefined && this.#following === undefined) {
      this.#following = this.#follow(this.#places);
      // Where there are no nodes, it is known that none says where it stands.
      if (this.#following === undefined) this.#places.listCompleted();
    }
  }

  #endFollowing(): void {
    if (this.#following === undefined) return;
    const before = this.#stopped;
    const ended = this.#following.stop();
    this.#stopped = before.then(() => ended);
    this.#following = undefined;
    // What is followed again later is another list.
    this.#places = new NodePlaces();
  }
}
