/**
 * Reads the names that a rule of `rewrite` matches.
 */
import type { DirectiveCursor, DirectiveError } from '@portolan/corefile/directive/directive-cursor.ts';
import { compilePattern, type PatternFaults } from '@portolan/corefile/directive/patterns.ts';
import { normalizeName } from '@portolan/corefile/keys/zone-name.ts';
import type { RewriteMatch } from './options.ts';

export type MatchKind = RewriteMatch['kind'];
export const MATCH_KINDS: readonly MatchKind[] = ['exact', 'prefix', 'suffix', 'substring', 'regex'];

export function parseMatchKind(word: string): MatchKind | undefined {
  return MATCH_KINDS.find((known) => known === word.toLowerCase());
}

/** @param normalize canonical form of texts that are not patterns @throws DirectiveError */
export function readMatch(
  kind: MatchKind,
  text: string,
  faults: PatternFaults,
  cursor: DirectiveCursor,
  normalize: (text: string) => string = normalizeName,
): RewriteMatch {
  if (kind === 'regex') return { kind, pattern: compilePattern(text, faults) };
  const normalized = normalize(text);
  const isCut = normalized !== text && !text.endsWith('.');
  if (kind === 'prefix' && isCut && normalized.endsWith('.'))
    cursor.warn(
      `The prefix ${JSON.stringify(text)} is taken as ${JSON.stringify(normalized)}: it fits whole labels only. Use regex for a part of a label.`,
    );
  if (kind === 'substring' && isCut && normalized.endsWith('.'))
    cursor.warn(
      `The text ${JSON.stringify(text)} is taken as ${JSON.stringify(normalized)}: it fits only where a label ends. Use regex for a part of a label.`,
    );
  return { kind, text: normalized };
}

/** The messages for faulty patterns in rules for responses. */
export function responseFaults(
  field: 'ttl' | 'rcode',
  source: string,
  cursor: DirectiveCursor,
): PatternFaults {
  const refuse = (message: string): DirectiveError =>
    cursor.bareError(message, 'Correct the expression; its syntax is that of Go.');
  return {
    tooLong: (lengths) => refuse(`regex pattern too long in a ${field} rule: ${lengths}`),
    invalid: () => refuse(`invalid regex pattern in a ${field} rule: ${source}`),
  };
}
