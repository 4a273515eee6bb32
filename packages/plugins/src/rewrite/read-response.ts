/**
 * Rules of `rewrite` that change responses only: TTLs, response codes, targets of aliases.
 */
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseUnsigned } from '@portolan/corefile/directive/go-values.ts';
import { parseExactRcode } from '@portolan/corefile/directive/type-names.ts';
import { normalizeName } from '@portolan/corefile/keys/zone-name.ts';
import type { RewriteCname, RewriteMatch, RewriteRcode, RewriteTtl } from './options.ts';
import { MATCH_KINDS, parseMatchKind, readMatch, responseFaults } from './read-match.ts';

const MAX_TTL = 2 ** 31 - 1;
const MAX_RCODE = 23;
const KINDS = MATCH_KINDS.join('|');

/** @throws DirectiveError */
export function readTtlRule(words: readonly string[], cursor: DirectiveCursor): RewriteTtl {
  const remedy = `Write: ttl [${KINDS}] NAME TTL, with a TTL as in 30, 30-60, 30- or -60.`;
  if (words.length < 2) throw cursor.bareError(`too few (${words.length}) arguments for a ttl rule`, remedy);
  const text = words.length <= 3 ? (words.at(-1) ?? '') : '';
  const range = readTtlRange(text);
  if (range === undefined) throw cursor.bareError(`invalid TTL '${text}' for a ttl rule`, remedy);
  return { field: 'ttl', match: readResponseMatch('ttl', words.slice(0, -1), remedy, cursor), ...range };
}

function readTtlRange(text: string): { readonly min: number; readonly max: number } | undefined {
  const [first = '', second, ...others] = text.split('-');
  const number = (digits: string): number => {
    const value = parseUnsigned(digits, 10, 32);
    return value.kind === 'good' ? value.value : Number.NaN;
  };
  if (others.length > 0 || (first === '' && (second ?? '') === '')) return undefined;
  const min = first === '' ? 0 : number(first);
  const max = second === undefined ? min : second === '' ? MAX_TTL : number(second);
  return min <= max ? { min, max } : undefined;
}

/** @throws DirectiveError */
export function readRcodeRule(words: readonly string[], cursor: DirectiveCursor): RewriteRcode {
  const remedy = `Write: rcode [${KINDS}] NAME FROM TO, with response codes as in SERVFAIL and NOERROR.`;
  if (words.length < 3)
    throw cursor.bareError(`too few (${words.length}) arguments for a rcode rule`, remedy);
  const [fromText = '', toText = ''] = words.length <= 4 ? words.slice(-2) : [];
  const from = readRcode(fromText);
  if (from === undefined)
    throw cursor.bareError(`invalid matching RCODE '${fromText}' for a rcode rule`, remedy);
  const to = readRcode(toText);
  if (to === undefined)
    throw cursor.bareError(`invalid replacement RCODE '${toText}' for a rcode rule`, remedy);
  return { field: 'rcode', match: readResponseMatch('rcode', words.slice(0, -2), remedy, cursor), from, to };
}

function readRcode(text: string): number | undefined {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return number <= MAX_RCODE ? number : parseExactRcode(text.toUpperCase());
}

function readResponseMatch(
  field: 'ttl' | 'rcode',
  words: readonly string[],
  remedy: string,
  cursor: DirectiveCursor,
): RewriteMatch {
  const [kindText, name] = words.length === 1 ? ['exact', words[0] ?? ''] : [words[0] ?? '', words[1] ?? ''];
  const kind = parseMatchKind(kindText);
  if (kind === undefined)
    throw cursor.bareError(
      `${field} rule supports only exact, prefix, suffix, substring, and regex name matching`,
      remedy,
    );
  return readMatch(kind, name, responseFaults(field, name, cursor), cursor);
}

/** @throws DirectiveError */
export function readCnameRule(words: readonly string[], cursor: DirectiveCursor): RewriteCname {
  const remedy = `Write: cname [${KINDS}] FROM TO.`;
  if (words.length !== 2 && words.length !== 3)
    throw cursor.bareError(`too few (${words.length}) arguments for a cname rule`, remedy);
  const [kindText = '', fromText = '', toText = ''] = words.length === 2 ? ['exact', ...words] : words;
  const kind = parseMatchKind(kindText);
  if (kind === undefined)
    throw cursor.bareError(`unknown cname rewrite type: ${kindText.toLowerCase()}`, remedy);
  const from = fromText.toLowerCase();
  const to = toText.toLowerCase();
  const patternRemedy = 'Correct the expression; its syntax is that of Go.';
  const faults = {
    tooLong: (lengths: string) =>
      cursor.bareError(`regex pattern too long in a cname rule: ${lengths}`, patternRemedy),
    invalid: (fault: string) =>
      cursor.bareError(`invalid cname rewrite regex pattern: ${fault}`, patternRemedy),
  };
  // Only whole names get a final dot here.
  const normalize = kind === 'exact' ? normalizeName : (text: string) => text;
  return { field: 'cname', match: readMatch(kind, from, faults, cursor, normalize), to: normalize(to) };
}
