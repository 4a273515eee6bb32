/**
 * Puts the addresses of answers into sets of nftables before the answers leave, so that a first connection finds them there.
 */

import { setImmediate } from 'node:timers/promises';
import { EXTENDED_ERROR } from '@portolan/dns/extended-error.ts';
import { findClosest, ROOT } from '@portolan/dns/name.ts';
import { CLASS, type NameKey, TYPE } from '@portolan/dns/types.ts';
import { type Clock, within } from '@portolan/kernel/base/clock.ts';
import type { Counter } from '@portolan/kernel/base/metrics/counted-families.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { anyName, eachTime, namesWithin } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { isResponse, toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import type { Plugin } from '@portolan/kernel/contract/plugin.ts';
import type { NftSets, WantedAddress } from './nft-sets.ts';
import type { NftSet, NftsetOptions } from './options.ts';

/** Milliseconds that an answer waits for the kernel. */
export const WAIT = 20;
/** Questions whose answers have addresses that clients connect to. */
const TYPES: ReadonlySet<number> = new Set([TYPE.A, TYPE.AAAA, TYPE.ANY]);

interface Domain {
  readonly sets: readonly NftSet[];
  readonly isClosed: boolean;
}

/** The sets of the machine while a plugin uses them. */
export interface UsedSets {
  readonly value: Pick<NftSets, 'add'>;
  release(): Promise<void>;
}

export interface NftsetDependencies {
  readonly useSets: () => UsedSets;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
}

export class Nftset implements Plugin {
  readonly handler: Handler;
  readonly #domains: ReadonlyMap<NameKey, Domain>;
  readonly #dependencies: NftsetDependencies;
  readonly #late: Counter;
  /** Undefined: not started, or stopped. */
  #sets: UsedSets | undefined;

  constructor(options: NftsetOptions, dependencies: NftsetDependencies) {
    this.#dependencies = dependencies;
    this.#domains = indexDomains(options);
    this.#late = dependencies.metrics.counter(
      'portolan_nftset_unconfirmed_answers_total',
      'Answers whose addresses were not all in their sets of nftables in time: sent all the same, or SERVFAIL.',
      ['response'],
    );
    const names = new Set(this.#domains.keys());
    this.handler = {
      name: 'nftset',
      role: 'other',
      // Readers would repeat an answer when its addresses have gone from the sets.
      questions: eachTime(names.has(ROOT) ? anyName(TYPES) : namesWithin(names, TYPES)),
      answers: 'unchanged',
      isObserver: true,
      handle: (query, next) => this.#handle(query, next),
    };
  }

  start(): void {
    this.#sets = this.#dependencies.useSets();
  }

  async stop(): Promise<void> {
    await this.#sets?.release();
    this.#sets = undefined;
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    const { type, class: dnsClass } = query.question;
    const domain =
      TYPES.has(type) && dnsClass === CLASS.IN
        ? findClosest(query.key, (name) => this.#domains.get(name))
        : undefined;
    if (domain === undefined) return await next(query);
    query.forbidStoring();
    const answer = await next(query);
    if (answer.kind === 'drop' || !isResponse(answer)) return answer;
    const addresses = listAddresses(answer);
    if (addresses.length === 0 || (await this.#put(domain, addresses))) return answer;
    this.#late.series({ response: domain.isClosed ? 'servfail' : 'sent' })(1);
    if (!domain.isClosed) return answer;
    return {
      kind: 'servfail',
      reason: 'plugin/nftset: the addresses are not in their sets of nftables',
      extendedError: EXTENDED_ERROR.OTHER,
    };
  }

  /** @returns whether the addresses are in the sets, in time */
  async #put({ sets }: Domain, addresses: readonly WantedAddress[]): Promise<boolean> {
    const adding = this.#sets?.value.add(sets, addresses) ?? false;
    if (typeof adding === 'boolean') return adding;
    let areIn = false;
    const noted = adding.then((result) => {
      areIn = result;
    });
    await within(this.#dependencies.clock, WAIT, noted);
    // If this thread was late itself, what the kernel has said by now is still to be read.
    if (!areIn) await Promise.race([noted, setImmediate()]);
    return areIn;
  }
}

function indexDomains({ rules }: NftsetOptions): ReadonlyMap<NameKey, Domain> {
  const domains = new Map<NameKey, Domain>();
  for (const { domains: names, sets, isClosed } of rules)
    for (const name of names) {
      const other = domains.get(name);
      domains.set(name, {
        sets: [...(other?.sets ?? []), ...sets],
        isClosed: isClosed || other?.isClosed === true,
      });
    }
  return domains;
}

/** The addresses in the answer section, aliases or not. */
function listAddresses(answer: Exclude<Answer, { readonly kind: 'drop' }>): readonly WantedAddress[] {
  return toWholeAnswer(answer).answers.flatMap(({ ttl: seconds, data }): readonly WantedAddress[] => {
    if (data.kind !== 'A' && data.kind !== 'AAAA') return [];
    return [{ family: data.kind === 'A' ? 'ipv4' : 'ipv6', address: data.address, seconds }];
  });
}
