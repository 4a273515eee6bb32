/**
 * The rates that the handlers of all blocks state, for the listeners that apply them. Where the block of a query depends on more than
 * its name (`view`), the chain applies them, to the same accounts (`limit-in-chain.ts`).
 */
import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { findClosest } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { RateLimits } from '@portolan/plugin';
import { isWithinAny } from '../../chain/match.ts';
import { makeRateLimiterMemory } from '../../listen/rate-limiter.ts';
import {
  EXCEEDED,
  isBounding,
  makeExceededWords,
  type RateRules,
  type SharedRates,
} from '../../listen/rate-rules.ts';
import type { RatedZone } from '../../listen/rated-zones.ts';
import type { GroupPlan } from '../../plan/server-blocks-plan.ts';

/** The rates on one listener group, and how much of what exceeds them is counted. */
interface ServerRates {
  readonly shared: SharedRates;
  /** Those of `shared.exceeded`. */
  readonly words: Int32Array;
  requests: number;
  responses: number;
}

/** What outlives a plan that changes nothing about the rates. */
interface RatesMemory {
  readonly accounts: SharedArrayBuffer;
  readonly seed: number;
  readonly servers: Map<string, ServerRates>;
}

function makeMemory(maxCounts: number): RatesMemory {
  return { accounts: makeRateLimiterMemory(maxCounts), seed: randomInt(2 ** 31), servers: new Map() };
}

/** The block of a handler. */
export interface LimitedSite {
  /** Its first listener group. */
  readonly server: string;
  readonly view: string;
}

/** The rates of one handler. All listener groups of its block share their accounts. */
export class StatedRates {
  readonly limits: RateLimits;
  /** Whether listeners apply them; otherwise the chain does. */
  isByListeners = true;
  readonly #site: LimitedSite;
  readonly #rules: RateRules;
  readonly #memory: RatesMemory;

  /** @param former rates of the plan before. Those that are the same are taken out of them, and their accounts stay. */
  constructor(limits: RateLimits, site: LimitedSite, former: StatedRates[]) {
    this.limits = limits;
    this.#site = site;
    this.#rules = toRules(limits);
    const place = former.findIndex((each) => each.#isSame(this));
    const [same] = place < 0 ? [] : former.splice(place, 1);
    this.#memory = same === undefined ? makeMemory(limits.maxCounts) : same.#memory;
  }

  /** @param server the name of a listener group */
  ratesAt(server: string): SharedRates {
    const { accounts, seed, servers } = this.#memory;
    const known = servers.get(server);
    if (known !== undefined) return known.shared;
    const exceeded = makeExceededWords();
    const shared: SharedRates = { rules: this.#rules, accounts, exceeded, seed };
    servers.set(server, { shared, words: new Int32Array(exceeded), requests: 0, responses: 0 });
    return shared;
  }

  /** Counts what has exceeded the rates since the last call. */
  catchUp(): void {
    const { requests, responses } = this.limits.exceeded;
    for (const [server, rates] of this.#memory.servers) {
      const site = { server, view: this.#site.view };
      const requestsNow = Atomics.load(rates.words, EXCEEDED.REQUESTS);
      const responsesNow = Atomics.load(rates.words, EXCEEDED.RESPONSES);
      const newRequests = (requestsNow - rates.requests) >>> 0;
      const newResponses = (responsesNow - rates.responses) >>> 0;
      rates.requests = requestsNow;
      rates.responses = responsesNow;
      if (newRequests > 0) for (const count of requests) count.add(site, newRequests);
      if (newResponses > 0) for (const count of responses) count.add(site, newResponses);
    }
  }

  #isSame(other: StatedRates): boolean {
    return (
      isDeepStrictEqual(this.#site, other.#site) &&
      isDeepStrictEqual(this.limits.zones, other.limits.zones) &&
      isDeepStrictEqual(this.#rules, other.#rules)
    );
  }
}

function toRules(limits: RateLimits): RateRules {
  return {
    prefixLengths: limits.prefixLengths,
    requests: limits.requestsPerSecond,
    countsStreams: true,
    responses: limits.responsesPerSecond,
    requestSlip: 0,
    responseSlip: limits.slip,
    window: limits.window,
    maxCounts: limits.maxCounts,
    reportsOnly: limits.reportsOnly,
  };
}

/** A block, as far as rates depend on it. */
interface LimitedBlock {
  readonly rates: readonly StatedRates[];
  /** Undefined: it answers whatever the client is. */
  readonly choice: unknown;
}

/** The rates of all blocks of a plan. */
export class BlockLimits {
  readonly rates: readonly StatedRates[];
  readonly #groups: readonly GroupPlan[];
  readonly #blocks: readonly LimitedBlock[];

  constructor(groups: readonly GroupPlan[], blocks: readonly LimitedBlock[]) {
    this.rates = blocks.flatMap(({ rates }) => rates);
    this.#groups = groups;
    this.#blocks = blocks;
    chooseAppliers(groups, blocks);
  }

  /** What the listeners of a group apply, by the zone of a query; empty: nothing. @param server its name */
  listRatedZones(server: string): readonly RatedZone[] {
    const group = this.#groups.find((each) => each.server === server);
    return group === undefined ? [] : findRatedZones(group, this.#blocks);
  }

  /** Counts what has exceeded the rates since the last call. */
  catchUp(): void {
    for (const each of this.rates) each.catchUp();
  }
}

/** Decides for each block whether listeners apply its rates: the names of all its groups must say which block answers. */
function chooseAppliers(groups: readonly GroupPlan[], blocks: readonly LimitedBlock[]): void {
  for (const { sites } of groups) {
    if (sites.every(({ block }) => blocks[block]?.choice === undefined)) continue;
    for (const { block } of sites) for (const each of blocks[block]?.rates ?? []) each.isByListeners = false;
  }
}

function findRatedZones({ server, sites }: GroupPlan, blocks: readonly LimitedBlock[]): readonly RatedZone[] {
  const ofZones = new Map<NameKey, readonly StatedRates[]>();
  for (const { zone, block } of sites)
    if (!ofZones.has(zone))
      ofZones.set(zone, blocks[block]?.rates.filter(({ isByListeners }) => isByListeners) ?? []);
  const rated = new Map<NameKey, RatedZone>();
  const add = (zone: NameKey, rates: readonly StatedRates[]) => {
    const holding = rates.filter(({ limits }) => isWithinAny(zone, new Set(limits.zones)));
    rated.set(zone, { zone, rates: holding.map((each) => each.ratesAt(server)) });
  };
  for (const [zone, rates] of ofZones) {
    add(zone, rates);
    for (const { limits } of rates)
      for (const below of limits.zones)
        if (findClosest(below, (at) => (ofZones.has(at) ? at : undefined)) === zone) add(below, rates);
  }
  const zones = [...rated.values()];
  return zones.some(({ rates }) => rates.length > 0) ? zones : [];
}

/** Whether a handler bounds anything. */
export function isLimiting(limits: RateLimits | undefined): limits is RateLimits {
  if (limits === undefined) return false;
  const { requestsPerSecond: requests, responsesPerSecond: responses } = limits;
  return isBounding({ requests, responses });
}
