/**
 * The order in which servers are asked for one question.
 */
import { moveFirst, shuffle } from '@portolan/kernel/forward/candidates.ts';
import type { GrpcPolicy } from './options.ts';

export interface OrderedServer {
  /** Whether it has failed lately. */
  readonly isResting: boolean;
}

export class ServerOrder<Server extends OrderedServer> {
  /** In the order of the configuration. */
  readonly servers: readonly Server[];
  readonly #policy: GrpcPolicy;
  readonly #random: () => number;
  #first = 0;

  /** @param random numbers from 0 to below 1 */
  constructor(policy: GrpcPolicy, servers: readonly Server[], random: () => number) {
    this.#policy = policy;
    this.servers = servers;
    this.#random = random;
  }

  /** For the next question. Those that have failed lately are the last ones. */
  next(): readonly Server[] {
    const ordered = this.#arrange();
    const resting = ordered.filter(({ isResting }) => isResting);
    return resting.length === 0 ? ordered : [...ordered.filter(({ isResting }) => !isResting), ...resting];
  }

  #arrange(): readonly Server[] {
    const { servers } = this;
    if (this.#policy === 'sequential' || servers.length < 2) return servers;
    if (this.#policy === 'random') return shuffle(servers, this.#random);
    // CoreDNS begins with the second one.
    this.#first = (this.#first + 1) % servers.length;
    return moveFirst(servers, this.#first);
  }
}
