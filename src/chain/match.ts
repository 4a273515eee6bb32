/**
 * The questions that a handler may answer, change or refuse. The engine compiles them into the ask rules of a view, and into the
 * test of which packets may be forwarded.
 *
 * Matches may cover too many questions, but never too few. The class is always IN: readers answer no other.
 */
import { isWithin, parentOf, ROOT, tryParseKey } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';

export type NameMatch =
  | { readonly kind: 'exact'; readonly name: NameKey }
  /** The name and all names below it. */
  | { readonly kind: 'suffix'; readonly name: NameKey }
  | { readonly kind: 'any' };

export interface Match {
  readonly name: NameMatch;
  readonly types: 'all' | ReadonlySet<number>;
  /** If given, only names with at most so many labels. */
  readonly maxLabels?: number;
  /** If given, only queries with one of these EDNS options. */
  readonly ednsOptions?: ReadonlySet<number>;
  /** Whether the answer depends on the family of the client's address: `Query.dependOnFamily`, and on nothing else of the client. */
  readonly byFamily?: true;
  /** Whether only names that the handlers behind lack: it passes on what publishers have. Default: all names. */
  readonly ifMissing?: true;
}

/** The questions of a handler. May change at run time; then notify the engine, which recompiles the ask rules. */
export interface Questions {
  /** Whether a question is one of them, or may be. */
  includes(name: NameKey, type: number): boolean;
  /** Matches that cover all questions that `includes` is true for. */
  matches(): Iterable<Match>;
}

/** For handlers that only observe, or only change answers of others. */
export const NO_QUESTIONS: Questions = { includes: () => false, matches: () => [] };

export const ALL_QUESTIONS: Questions = {
  includes: () => true,
  matches: () => [{ name: { kind: 'any' }, types: 'all' }],
};

export function anyName(types: ReadonlySet<number>): Questions {
  return { includes: (_, type) => types.has(type), matches: () => [{ name: { kind: 'any' }, types }] };
}

/** As `anyName`, for a handler that reads `Query.dependOnFamily`. */
export function anyNameByFamily(types: ReadonlySet<number>): Questions {
  const { includes } = anyName(types);
  return { includes, matches: () => [{ name: { kind: 'any' }, types, byFamily: true }] };
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

/** As `namesWithin`, for a handler that returns the answers of publishers behind it about names that exist as they are. */
export function missingNamesWithin(names: ReadonlySet<NameKey>): Questions {
  const { includes } = namesWithin(names);
  return {
    includes,
    *matches() {
      for (const name of names) yield { name: { kind: 'suffix', name }, types: 'all', ifMissing: true };
    },
  };
}

/** Whether a name is one of `names` or below one. The cost depends on the number of its labels, not on the size of the set. */
export function isWithinAny(name: NameKey, names: ReadonlySet<NameKey>): boolean {
  if (names.size === 0) return false;
  for (let at: NameKey | undefined = name; at !== undefined; at = parentOf(at))
    if (names.has(at)) return true;
  return false;
}

/** Whether a match covers a question. Ignores EDNS options and numbers of labels. */
export function covers({ name, types }: Match, asked: NameKey, type: number): boolean {
  if (types !== 'all' && !types.has(type)) return false;
  if (name.kind === 'any') return true;
  return name.kind === 'exact' ? name.name === asked : isWithin(asked, name.name);
}

/**
 * A match that covers all names that end with a text in lower case. The text may begin inside a label, so the match is the domain
 * behind its first dot.
 */
export function namesEndingWith(text: string): NameMatch {
  const dot = text.indexOf('.');
  return dot < 0 ? { kind: 'any' } : nameMatch('suffix', text.slice(dot + 1));
}

/** @param text in lower case; a text that is not a name, or has escapes, matches any name */
export function nameMatch(kind: 'exact' | 'suffix', text: string): NameMatch {
  const name = text.includes('\\') ? undefined : tryParseKey(text);
  return name === undefined || (name === ROOT && kind === 'suffix') ? { kind: 'any' } : { kind, name };
}
