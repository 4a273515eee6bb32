/**
 * Orders the servers of a group for a question.
 */
import type { Policy } from './forward-plan.ts';
import type { Upstream } from './upstream/upstream.ts';

export interface Candidates {
  readonly upstreams: readonly Upstream[];
  /** How many of the first servers to ask at once, from 1. */
  readonly atOnce: number;
}

/** For `fastest`: how often to ask all servers, to notice when one has become faster. The same interval as in dnsmasq. */
const EXPLORE_AFTER_QUESTIONS = 50;
const EXPLORE_AFTER_MILLISECONDS = 20_000;

/** In any order. @param random numbers from 0 to below 1 */
export function shuffle<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  const rest = [...items];
  const shuffled: Item[] = [];
  while (rest.length > 0) shuffled.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return shuffled;
}

/** As CoreDNS takes turns: it only moves the first one. @param place the place of the one that is to be the first */
export function moveFirst<Item>(items: readonly Item[], place: number): readonly Item[] {
  return [...items.slice(place, place + 1), ...items.slice(0, place), ...items.slice(place + 1)];
}

/** Chooses servers in one group, and keeps the state of its policy. */
export class CandidateOrder {
  readonly #policy: Policy;
  readonly #random: () => number;
  readonly #isChecked: boolean;
  #turn: number;
  #sinceExplored = EXPLORE_AFTER_QUESTIONS;
  #exploredAt = Number.NEGATIVE_INFINITY;

  /** @param random from 0 to below 1 @param isChecked whether checks show which servers are down */
  constructor(policy: Policy, random: () => number, isChecked = false) {
    this.#policy = policy;
    this.#random = random;
    this.#isChecked = isChecked;
    // CoreDNS begins with the second one.
    this.#turn = isChecked ? 1 : 0;
  }

  /**
   * Silent servers come last: they are asked only when no other has answered, but always then. When all are down they
   * are asked at once, to find the first that recovers. It omits servers that loop our queries back.
   *
   * @param now milliseconds of a clock that never goes back
   */
  choose(servers: readonly Upstream[], now: number): Candidates {
    const able = servers.some(isLooping) ? servers.filter((upstream) => !isLooping(upstream)) : servers;
    const ordered = able.length < 2 ? able : this.#order(able);
    const upstreams = ordered.some(isSilent)
      ? [...ordered.filter((upstream) => !isSilent(upstream)), ...ordered.filter(isSilent)]
      : ordered;
    const areDown = upstreams.every(({ isDown }) => isDown);
    // Perhaps only the checks fail: ask any of them.
    if (this.#isChecked && areDown) return { upstreams: shuffle(upstreams, this.#random), atOnce: 1 };
    const asksAll = this.#asksAll(now) || areDown;
    return { upstreams, atOnce: asksAll ? Math.max(upstreams.length, 1) : 1 };
  }

  /** For `fastest`: whether the next question is to be asked of all servers. Only time counts here, not questions. */
  isExplorationDue(now: number): boolean {
    return this.#policy === 'fastest' && now - this.#exploredAt >= EXPLORE_AFTER_MILLISECONDS;
  }

  /** The servers by the policy, without a look at their states. */
  sorted(servers: readonly Upstream[]): readonly Upstream[] {
    return this.#policy === 'fastest' ? this.#order(servers) : servers;
  }

  #order(servers: readonly Upstream[]): readonly Upstream[] {
    switch (this.#policy) {
      case 'sequential':
      case 'all':
        return servers;
      case 'random':
        return shuffle(servers, this.#random);
      case 'round-robin': {
        const place = this.#turn % servers.length;
        this.#turn += 1;
        return this.#isChecked
          ? moveFirst(servers, place)
          : [...servers.slice(place), ...servers.slice(0, place)];
      }
      case 'fastest':
        return [...servers].sort((one, other) => slowness(one) - slowness(other));
    }
  }

  #asksAll(now: number): boolean {
    if (this.#policy !== 'fastest') return this.#policy === 'all';
    this.#sinceExplored += 1;
    const isDue =
      this.#sinceExplored > EXPLORE_AFTER_QUESTIONS || now - this.#exploredAt >= EXPLORE_AFTER_MILLISECONDS;
    if (!isDue) return false;
    this.#sinceExplored = 0;
    this.#exploredAt = now;
    return true;
  }
}

function isLooping({ state }: Upstream): boolean {
  return state.kind === 'looping';
}

export function isSilent({ state }: Upstream): boolean {
  return state.kind === 'silent' || state.kind === 'down';
}

/** A server without measurements comes last, since all are asked before it matters. */
function slowness({ state, roundTrip }: Upstream): number {
  const milliseconds = roundTrip.smoothed ?? Number.MAX_VALUE;
  return state.kind === 'failing' ? milliseconds + roundTrip.timeout() : milliseconds;
}
