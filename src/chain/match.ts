/**
 * Which questions a handler may answer, change or refuse, stated so that the engine can compile it: into the ask rules of a
 * view, and into the test of what may be forwarded as a packet.
 *
 * What cannot be stated exactly is stated too wide, never too narrow. The class is always IN: readers answer no other.
 */
import { isWithin, NameError, parentOf, parseName, ROOT, toKey } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';

export type NameMatch =
  | { readonly kind: 'exact'; readonly name: NameKey }
  /** The name and all names below it. */
  | { readonly kind: 'suffix'; readonly name: NameKey }
  | { readonly kind: 'any' };

export interface Match {
  readonly name: NameMatch;
  readonly types: 'all' | ReadonlySet<number>;
  /** If given, only queries with one of these EDNS options. */
  readonly ednsOptions?: ReadonlySet<number>;
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

/** Whether a match is for a question. EDNS options are left out of account. */
export function covers({ name, types }: Match, asked: NameKey, type: number): boolean {
  if (types !== 'all' && !types.has(type)) return false;
  if (name.kind === 'any') return true;
  return name.kind === 'exact' ? name.name === asked : isWithin(asked, name.name);
}

/**
 * A match that covers all names that end with a text, in lower case: those within the name that its first dot begins, since the
 * text may begin inside a label.
 */
export function namesEndingWith(text: string): NameMatch {
  const dot = text.indexOf('.');
  return dot < 0 ? { kind: 'any' } : nameMatch('suffix', text.slice(dot + 1));
}

/** @param text in lower case; what is no name, or has escapes, is taken for any name */
export function nameMatch(kind: 'exact' | 'suffix', text: string): NameMatch {
  if (text.includes('\\')) return { kind: 'any' };
  try {
    const name = toKey(parseName(text));
    return name === ROOT && kind === 'suffix' ? { kind: 'any' } : { kind, name };
  } catch (error) {
    if (error instanceof NameError) return { kind: 'any' };
    throw error;
  }
}
