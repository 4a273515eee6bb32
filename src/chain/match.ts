/**
 * Which questions a handler may answer, change or refuse, stated so that the engine can compile it: into the ask rules of a
 * view, and into the test of what may be forwarded as a packet.
 *
 * What cannot be stated exactly is stated too wide, never too narrow. The class is always IN: readers answer no other.
 */
import { parentOf } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';

export type NameMatch =
  | { readonly kind: 'exact'; readonly name: NameKey }
  /** The name and all names below it. */
  | { readonly kind: 'suffix'; readonly name: NameKey }
  | { readonly kind: 'any' };

export interface Match {
  readonly name: NameMatch;
  readonly types: 'all' | ReadonlySet<number>;
}

/** The questions of a handler. They may change while it runs; who compiles them must be called then. */
export interface Questions {
  /** Whether a question is one of them, or may be. */
  includes(name: NameKey, type: number): boolean;
  /** Matches that cover all questions that `includes` is true for. */
  matches(): Iterable<Match>;
}

/** For handlers that observe, or that act on the answers of others alone. */
export const NO_QUESTIONS: Questions = { includes: () => false, matches: () => [] };

export const ALL_QUESTIONS: Questions = {
  includes: () => true,
  matches: () => [{ name: { kind: 'any' }, types: 'all' }],
};

export function anyName(types: ReadonlySet<number>): Questions {
  return { includes: (_, type) => types.has(type), matches: () => [{ name: { kind: 'any' }, types }] };
}

/** All questions about these names and the names below them. */
export function namesWithin(names: ReadonlySet<NameKey>, types: Match['types'] = 'all'): Questions {
  return {
    includes: (name, type) => (types === 'all' || types.has(type)) && isWithinAny(name, names),
    *matches() {
      for (const name of names) yield { name: { kind: 'suffix', name }, types };
    },
  };
}

/** Whether a name is one of these, or below one. Costs as much as the name has labels, however many there are. */
export function isWithinAny(name: NameKey, names: ReadonlySet<NameKey>): boolean {
  if (names.size === 0) return false;
  for (let at: NameKey | undefined = name; at !== undefined; at = parentOf(at))
    if (names.has(at)) return true;
  return false;
}
