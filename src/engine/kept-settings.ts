/**
 * What of a plan stays when another one comes.
 */
import { isDeepStrictEqual } from 'node:util';
import type { EnginePlan } from '../config/server/engine-plan.ts';
import type { LocalSettings } from '../handlers/local/local-handlers.ts';
import type { AddressRange } from '../wire/address-range.ts';

/** Whether local names and rules for replies stay as they are; rules for questions may change. */
export function isSameLocal(one: LocalSettings, other: LocalSettings): boolean {
  const { questions: _, ...rest } = one;
  const { questions: __, ...otherRest } = other;
  return isDeepStrictEqual(rest, otherRest);
}

/**
 * The plan with the very rules of the one before where they are equal: the resolver forgets what it has cached when they are
 * others.
 */
export function withKept(plan: EnginePlan, before: EnginePlan): EnginePlan {
  const { caching, filteredTypes } = before.resolver;
  const keptCaching = isDeepStrictEqual(plan.resolver.caching, caching) ? caching : plan.resolver.caching;
  return { ...plan, resolver: { ...plan.resolver, caching: keptCaching, filteredTypes } };
}

/** The networks of clients that local addresses are chosen for. */
export function networksOf({ clients }: EnginePlan): readonly AddressRange[] {
  return clients?.localises === true ? clients.networks : [];
}
