/**
 * The servers that readers may ask, by the numbers that policies and replies name them by.
 *
 * Many server blocks mean many servers: each look-up costs the same, however many there are.
 */
import type { Upstream } from '../upstream/upstream.ts';
import type { LinkedForwarder } from './linked-forwarder.ts';
import { type CountGrowth, MAX_SERVERS, type ServerCounts, type SharedWords } from './shared-words.ts';

export interface KnownServer {
  readonly number: number;
  readonly upstream: Upstream;
  readonly owner: LinkedForwarder;
  /** What readers have counted for it. */
  readonly counts: CountGrowth<keyof ServerCounts>;
  /** When it left the policy; undefined: the policy has it, or will have it. */
  leftAt: number | undefined;
}

const NO_SERVERS: ReadonlyMap<Upstream, KnownServer> = new Map();

export class KnownServers {
  readonly #words: SharedWords;
  /** The oldest first. */
  readonly #byNumber = new Map<number, KnownServer>();
  readonly #byOwner = new Map<LinkedForwarder, Map<Upstream, KnownServer>>();
  /** The places in shared memory that are taken: numbers modulo `MAX_SERVERS`. */
  readonly #places = new Set<number>();
  #last = 0;

  constructor(words: SharedWords) {
    this.#words = words;
  }

  find(number: number): KnownServer | undefined {
    return this.#byNumber.get(number);
  }

  /** All, the oldest first. One that is visited may be forgotten. */
  all(): Iterable<KnownServer> {
    return this.#byNumber.values();
  }

  listServers(owner: LinkedForwarder): Iterable<KnownServer> {
    return (this.#byOwner.get(owner) ?? NO_SERVERS).values();
  }

  /**
   * The server of a forwarder, with the same number while the forwarder may ask it.
   *
   * @returns undefined if readers know `MAX_SERVERS` servers that they may ask
   */
  getOrAdd(upstream: Upstream, owner: LinkedForwarder): KnownServer | undefined {
    const known = this.#byOwner.get(owner)?.get(upstream);
    if (known !== undefined) return known;
    if (this.#places.size === MAX_SERVERS && !this.#forgetLeft()) return undefined;
    do this.#last += 1;
    while (this.#places.has(this.#last % MAX_SERVERS));
    const number = this.#last;
    const server = {
      number,
      upstream,
      owner,
      counts: this.#words.followServerCounts(number),
      leftAt: undefined,
    };
    this.#places.add(number % MAX_SERVERS);
    this.#byNumber.set(number, server);
    const ofOwner = this.#byOwner.get(owner) ?? new Map<Upstream, KnownServer>();
    this.#byOwner.set(owner, ofOwner.set(upstream, server));
    return server;
  }

  forget({ number, owner, upstream }: KnownServer): void {
    this.#byNumber.delete(number);
    this.#places.delete(number % MAX_SERVERS);
    const ofOwner = this.#byOwner.get(owner);
    ofOwner?.delete(upstream);
    if (ofOwner?.size === 0) this.#byOwner.delete(owner);
  }

  /** Forgets the oldest server outside the policy. @returns whether there was one */
  #forgetLeft(): boolean {
    for (const server of this.#byNumber.values()) {
      if (server.leftAt === undefined) continue;
      this.forget(server);
      return true;
    }
    return false;
  }
}
