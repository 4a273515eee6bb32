/**
 * Rules of `rewrite` for names: the change of the question, and the changes of the answer that follow from it.
 */
import type { DirectiveCursor, DirectiveError } from '@portolan/corefile/directive/directive-cursor.ts';
import { compilePattern, type PatternFaults } from '@portolan/corefile/directive/patterns.ts';
import { normalizeName } from '@portolan/corefile/keys/zone-name.ts';
import type { Pattern } from '@portolan/kernel/base/pattern.ts';
import type { RewriteAnswer, RewriteName } from './options.ts';
import { type MatchKind, parseMatchKind, readMatch } from './read-match.ts';

const REMEDY =
  'Write: name [exact|prefix|suffix|substring|regex] FROM TO [answer auto | answer name FROM TO | answer value FROM TO].';

/** @throws DirectiveError */
export function readNameRule(words: readonly string[], cursor: DirectiveCursor): RewriteName {
  if (words.length < 2) throw cursor.bareError('too few arguments for a name rule', REMEDY);
  const isShort = words.length === 2;
  const [kindText = '', from = '', to = '', ...rest] = isShort ? ['exact', ...words] : words;
  const known = parseMatchKind(kindText);
  const { isAuto, answers } =
    rest.length === 0 ? NO_ANSWERS : readAnswers(kindText.toLowerCase(), rest, cursor);
  if (known === undefined)
    throw cursor.bareError(
      `name rule supports only exact, prefix, suffix, substring, and regex name matching, received: ${kindText.toLowerCase()}`,
      REMEDY,
    );
  // CoreDNS also reads the replacement as a pattern.
  if (known === 'exact')
    requireGroups(normalizeName(to), normalizeName(from), patternFaults(normalizeName(to), cursor), cursor);
  const match = readMatch(known, from, patternFaults(from, cursor), cursor);
  if (match.kind === 'regex') requirePatternGroups(match.pattern, to, cursor);
  warnOfForeignOwner(known, isAuto || answers.some(({ field }) => field === 'name'), cursor);
  return { field: 'name', match, to: normalizeName(to), restoresName: isAuto || known === 'exact', answers };
}

const NO_ANSWERS = { isAuto: false, answers: [] };

function warnOfForeignOwner(kind: MatchKind, restores: boolean, cursor: DirectiveCursor): void {
  if (kind !== 'exact' && !restores)
    cursor.warn(
      `A rule of the kind ${kind} leaves the changed name in the answer, and many resolvers discard such an answer. Add "answer auto", or an "answer name" rule.`,
    );
}

function readAnswers(
  kind: string,
  words: readonly string[],
  cursor: DirectiveCursor,
): { isAuto: boolean; answers: readonly RewriteAnswer[] } {
  const fault = (message: string): DirectiveError => cursor.bareError(message, REMEDY);
  if (words.length < 2) throw fault(`invalid arguments for ${kind} rule`);
  const answers: RewriteAnswer[] = [];
  let isAuto = false;
  for (let rest = words; rest.length > 0; ) {
    if (answers.length === 0 && !isAuto && rest[0] !== 'answer')
      throw fault(`exceeded the number of arguments for a non-answer rule argument for ${kind} rule`);
    const [field, from, to, ...behind] = rest[0] === 'answer' ? rest.slice(1) : rest;
    if (field === undefined) throw fault(`type missing for answer rule for ${kind} rule`);
    if (field === 'auto') {
      isAuto = true;
      rest = rest.slice(rest[0] === 'answer' ? 2 : 1);
      continue;
    }
    if (field !== 'name' && field !== 'value')
      throw fault(`invalid type ${JSON.stringify(field)} for answer rule for ${kind} rule`);
    if (from === undefined || to === undefined)
      throw fault(`${field} answer rule for ${kind} rule: 2 arguments required`);
    answers.push({ field, ...readAnswer(`${field} answer rule for ${kind} rule`, from, to, cursor) });
    rest = behind;
  }
  if (isAuto && answers.some(({ field }) => field === 'name'))
    throw fault('auto name answer rule cannot be combined with explicit name anwer rules');
  return { isAuto, answers };
}

function readAnswer(
  place: string,
  from: string,
  to: string,
  cursor: DirectiveCursor,
): { readonly pattern: Pattern; readonly to: string } {
  const faults = patternFaults(from, cursor, `${place}: `);
  const pattern = requireGroups(from, to, faults, cursor, `${place}: `);
  return { pattern, to: normalizeName(to) };
}

function patternFaults(source: string, cursor: DirectiveCursor, place = ''): PatternFaults {
  const remedy = 'Correct the expression; its syntax is that of Go.';
  return {
    tooLong: (lengths) => cursor.bareError(`${place}regex pattern too long: ${lengths}`, remedy),
    invalid: () => cursor.bareError(`${place}invalid regex matching pattern: ${source}`, remedy),
  };
}

function requireGroups(
  from: string,
  to: string,
  faults: PatternFaults,
  cursor: DirectiveCursor,
  place = '',
): Pattern {
  const pattern = compilePattern(from, faults);
  requirePatternGroups(pattern, to, cursor, place);
  return pattern;
}

/** The highest group that CoreDNS lets rules refer to. */
const MAX_GROUP = 100;

function requirePatternGroups(pattern: Pattern, to: string, cursor: DirectiveCursor, place = ''): void {
  const numbers = [...to.matchAll(/\{(0|[1-9]\d{0,2})\}/g)].map((match) => Number(match[1]));
  const used = new Set(numbers.filter((number) => number <= MAX_GROUP)).size;
  if (used > pattern.groupCount)
    throw cursor.bareError(
      `${place}the rewrite regex pattern (${to}) uses more subexpressions than its corresponding matching regex pattern (${pattern.source})`,
      'Put parentheses around each part of the expression that {1}, {2} and so on stand for.',
    );
}
