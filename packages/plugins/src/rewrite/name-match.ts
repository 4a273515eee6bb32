/**
 * Matches names against rules of `rewrite`, and replaces them.
 */
import { findLiteralSuffix } from '@portolan/kernel/base/literal-suffix.ts';
import type { PatternGroups } from '@portolan/kernel/base/pattern.ts';
import { type NameMatch, nameMatch, namesEndingWith } from '@portolan/kernel/chain/match.ts';
import type { RewriteMatch } from './options.ts';

/** @param name in lower case, with its final dot */
export function matchesName(match: RewriteMatch, name: string): boolean {
  switch (match.kind) {
    case 'exact':
      return name === match.text;
    case 'prefix':
      return name.startsWith(match.text);
    case 'suffix':
      return name.endsWith(match.text);
    case 'substring':
      return name.includes(match.text);
    case 'regex':
      return match.pattern.test(name);
  }
}

/**
 * The new name; undefined if the rule does not match.
 *
 * @param to with `{0}`, `{1}` and so on for the groups of a regular expression
 */
export function replaceName(match: RewriteMatch, to: string, name: string): string | undefined {
  if (match.kind === 'regex') {
    const groups = match.pattern.match(name);
    return groups && fillInGroups(to, groups);
  }
  if (!matchesName(match, name)) return undefined;
  switch (match.kind) {
    case 'exact':
      return to;
    case 'prefix':
      return to + name.slice(match.text.length);
    case 'suffix':
      return name.slice(0, name.length - match.text.length) + to;
    case 'substring':
      return name.replaceAll(match.text, () => to);
  }
}

/** Inserts matched groups without filling them in again, so that a client cannot insert references. */
export function fillInGroups(to: string, groups: PatternGroups): string {
  return to.replace(/\{(0|[1-9]\d*)\}/g, (reference, number: string) =>
    Number(number) < groups.length ? (groups[Number(number)] ?? '') : reference,
  );
}

/** A match that covers all names of a rule. */
export function toNameMatch(match: RewriteMatch): NameMatch {
  if (match.kind === 'exact') return nameMatch('exact', match.text);
  if (match.kind === 'suffix') return namesEndingWith(match.text);
  const suffix = match.kind === 'regex' ? findLiteralSuffix(match.pattern.source) : undefined;
  return suffix === undefined ? { kind: 'any' } : namesEndingWith(suffix);
}
