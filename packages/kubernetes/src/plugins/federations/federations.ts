/**
 * The federations that are configured now, and the nodes, whose labels give the zone and region of this cluster. Nodes are
 * watched only while a federation is configured.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import { NO_QUESTIONS, namesWithin, type Questions } from '@portolan/kernel/chain/match.ts';
import { nameBelow } from '../../names/labels.ts';
import { type ClusterPlace, NodePlaces } from '../../objects/node-places.ts';
import type { Federation, FederationSource } from './federation.ts';

/** A watch that can be stopped. */
interface StoppableWatch {
  stop(): Promise<void>;
}

/** @returns undefined if the server cannot follow nodes */
export type FollowNodes<Watch extends StoppableWatch> = (places: NodePlaces) => Watch | undefined;

/** @typeParam Watch the caller's type of the watch of nodes, for its statistics */
export class Federations<Watch extends StoppableWatch> implements FederationSource {
  readonly domain: NameKey;
  readonly #onChange: () => void;
  #questions: Questions = NO_QUESTIONS;
  #domains: ReadonlyMap<string, NameKey> = new Map();
  #places = new NodePlaces();
  #follow: FollowNodes<Watch> | undefined;
  #following: Watch | undefined;
  #stopped: Promise<void> = Promise.resolve();

  /**
   * @param domain the cluster's
   * @param onChange called when `questions` has changed
   */
  constructor(domain: NameKey, onChange: () => void) {
    this.domain = domain;
    this.#onChange = onChange;
  }

  get questions(): Questions {
    return this.#questions;
  }

  findDomain(federation: string): NameKey | undefined {
    return this.#domains.get(federation);
  }

  get place(): ClusterPlace {
    return this.#places.place;
  }

  /** The watch of nodes, if it runs. */
  get following(): Watch | undefined {
    return this.#following;
  }

  replace(federations: readonly Federation[]): void {
    this.#domains = new Map(federations.map(({ name, domain }) => [name, domain]));
    const names = federations.flatMap(({ name }) => nameBelow(`${name}.svc`, this.domain) ?? []);
    this.#questions = namesWithin(new Set(names));
    this.#onChange();
    this.#followIfNeeded();
  }

  /** From now on, follows nodes while they are needed. */
  start(follow: FollowNodes<Watch>): void {
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
      // Without nodes, the list is complete: no node has a zone and region.
      if (this.#following === undefined) this.#places.listCompleted();
    }
  }

  #endFollowing(): void {
    if (this.#following === undefined) return;
    const before = this.#stopped;
    const ended = this.#following.stop();
    this.#stopped = before.then(() => ended);
    this.#following = undefined;
    // A later watch begins with a new list.
    this.#places = new NodePlaces();
  }
}
