/**
 * Proposes the smallest change of `ndots` that saves questions and breaks no name of a time, by a simulation of the resolver libraries.
 */
import { listCandidates, listReached, RESOLVER_LIBRARIES } from '@portolan/server/reasons/search-walk.ts';
import type { NameLookUp, ResolverSettings } from './look-ups.ts';

export interface Proposal {
  /** Undefined: no lower value saves anything, or each breaks a name. */
  readonly ndots: number | undefined;
  /** Questions of the time that it saves. */
  readonly saved: number;
  /** What further questions complete names would save, after the change; the most first. */
  readonly completeNames: readonly CompleteName[];
}

/** A name that would be found at once if the program gave all of it, with a final dot. */
export interface CompleteName {
  readonly name: string;
  /** The whole name. */
  readonly complete: string;
  readonly saved: number;
}

/** In the order of preference. With 2, `cart` and `cart.shop` are searched for as before. */
const VALUES: readonly number[] = [2, 3, 4, 1];
/** With 1, musl finds no `cart.shop` that it has not asked for meanwhile: the share of all questions that this has to be worth. */
const WORTH_OF_ONE = 0.1;
const MAX_NAMES = 10;

export function propose(lookUps: readonly NameLookUp[], settings: ResolverSettings): Proposal {
  const before = countQuestions(lookUps, settings);
  let best = { ndots: settings.ndots, saved: 0 };
  for (const ndots of VALUES) {
    const changed = { ...settings, ndots };
    if (ndots >= settings.ndots || !isSafe(lookUps, settings, changed)) continue;
    const saved = before - countQuestions(lookUps, changed);
    const worth = ndots === 1 && best.saved > 0 ? before * WORTH_OF_ONE : 0;
    if (saved > best.saved + worth) best = { ndots, saved };
  }
  return {
    ndots: best.saved > 0 ? best.ndots : undefined,
    saved: best.saved,
    completeNames: listCompleteNames(lookUps, { ...settings, ndots: best.ndots }),
  };
}

/** Questions that a library asks for these look-ups. */
function countQuestions(lookUps: readonly NameLookUp[], settings: ResolverSettings): number {
  return lookUps.reduce((sum, lookUp) => sum + lookUp.count * listAsked(lookUp, settings).length, 0);
}

/** The names of a look-up that are asked for, as far as their outcomes are known. */
function listAsked({ name, findOutcome }: NameLookUp, settings: ResolverSettings): readonly string[] {
  const reached = listReached(name, settings, settings.library, findOutcome);
  return reached.filter((each) => findOutcome(each) !== undefined);
}

/** Whether each library still comes to the name that it found before. */
function isSafe(lookUps: readonly NameLookUp[], before: ResolverSettings, after: ResolverSettings): boolean {
  return lookUps.every((lookUp) =>
    RESOLVER_LIBRARIES.every((library) =>
      staysResolved(lookUp, { ...before, library }, { ...after, library }),
    ),
  );
}

function staysResolved(lookUp: NameLookUp, before: ResolverSettings, after: ResolverSettings): boolean {
  const found = resolve(lookUp, before);
  switch (found.kind) {
    case 'missing':
      return true;
    case 'found': {
      const then = resolve(lookUp, after);
      return then.kind === 'found' && then.name === found.name;
    }
    case 'unknown': {
      // Its end was not seen: the list may be longer, and the name found there.
      const order = listCandidates(lookUp.name, before, before.library);
      const then = listCandidates(lookUp.name, after, after.library);
      return order.every((candidate, index) => candidate === then[index]);
    }
  }
}

type Resolution =
  | { readonly kind: 'found'; readonly name: string }
  | { readonly kind: 'missing' }
  /** A name that nobody asked for decides. */
  | { readonly kind: 'unknown' };

function resolve({ name, findOutcome }: NameLookUp, settings: ResolverSettings): Resolution {
  const last = listReached(name, settings, settings.library, findOutcome).at(-1);
  const outcome = last === undefined ? 'nxdomain' : findOutcome(last);
  if (outcome === undefined) return { kind: 'unknown' };
  return outcome === 'answer' && last !== undefined ? { kind: 'found', name: last } : { kind: 'missing' };
}

function listCompleteNames(
  lookUps: readonly NameLookUp[],
  settings: ResolverSettings,
): readonly CompleteName[] {
  return lookUps
    .flatMap((lookUp) => {
      const { name, count, resolvedAs } = lookUp;
      if (resolvedAs === undefined) return [];
      const saved = count * (listAsked(lookUp, settings).length - 1);
      return saved > 0 ? [{ name, complete: resolvedAs, saved }] : [];
    })
    .sort((one, other) => other.saved - one.saved || (one.name < other.name ? -1 : 1))
    .slice(0, MAX_NAMES);
}
