/**
 * The questions that a handler may answer, change or refuse. The engine compiles them into the ask rules of a view, and into the
 * test of which packets may be forwarded.
 *
 * Matches may cover too many questions, but never too few. The class is always IN: readers answer no other.
 */
import { isWithin, ROOT, tryParseKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { anyName, type Match, type NameMatch, namesWithin, type Questions } from '@portolan/plugin';

export type { Match, NameMatch, Questions } from '@portolan/plugin';
export { ALL_QUESTIONS, anyName, isWithinAny, NO_QUESTIONS, namesWithin } from '@portolan/plugin';

/** As `anyName`, for a handler that reads `Query.dependOnFamily`. */
export function anyNameByFamily(types: ReadonlySet<number>): Questions {
  const { includes } = anyName(types);
  return { includes, matches: () => [{ name: { kind: 'any' }, types, byFamily: true }] };
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

/** As `namesWithin`, for a handler that only serves clients that want signatures. */
export function signedNamesWithin(names: ReadonlySet<NameKey>): Questions {
  const { includes } = namesWithin(names);
  return {
    includes,
    *matches() {
      for (const name of names) yield { name: { kind: 'suffix', name }, types: 'all', dnssecOk: true };
    },
  };
}

/** For a handler that acts on each query: no stored answer of the handlers behind it replaces its own. */
export function eachTime({ includes, matches }: Questions): Questions {
  return {
    includes,
    *matches() {
      for (const match of matches()) yield { ...match, always: true };
    },
  };
}

/** The questions of all parts. */
export function joinQuestions(...parts: readonly Questions[]): Questions {
  return {
    includes: (name, type) => parts.some((part) => part.includes(name, type)),
    *matches() {
      for (const part of parts) yield* part.matches();
    },
  };
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
