/**
 * Reads a configuration file line by line, with dnsmasq's comments, quotes and escapes, and reports wrong lines.
 *
 * One peculiarity of dnsmasq is kept because files may depend on it: the character after a closing quote is literal, even if it is
 * another quote.
 */
import { decodeLatin1, escapeText, textOfOctets } from './octets.ts';
import type { Option } from './option.ts';
import { findOption, nearestName } from './option-table.ts';
import { withoutEndSpaces, withoutLeadSpaces } from './pieces.ts';

export type FileLine =
  | {
      readonly kind: 'option';
      readonly line: number;
      readonly option: Option;
      readonly value: string | undefined;
    }
  | {
      readonly kind: 'wrong';
      readonly line: number;
      readonly fault: string;
      readonly written: string;
      readonly remedy: string;
    };

/** The most wrong lines for which to suggest an option; a file with more is probably not a file of options. */
const MAX_SUGGESTED = 100;

/** Lines are counted from 1. Empty ones and comments are left out. */
export function* readConfigFile(bytes: Uint8Array): Generator<FileLine> {
  const text = decodeLatin1(bytes);
  let line = 0;
  let wrong = 0;
  for (let start = 0; start < text.length; line += 1) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const content = untilNul(text.slice(start, end));
    start = end + 1;
    const reading = readConfigLine(content);
    if (reading.kind === 'unterminated')
      yield {
        kind: 'wrong',
        line: line + 1,
        fault: 'a quote without its end',
        written: textOfOctets(content),
        remedy: 'Close it.',
      };
    else if (reading.kind === 'option') {
      const read = toFileLine(line + 1, reading.name, reading.value, wrong < MAX_SUGGESTED);
      if (read.kind === 'wrong') wrong += 1;
      yield read;
    }
  }
}

/** In dnsmasq, a NUL ends the line. */
function untilNul(line: string): string {
  const nul = line.indexOf('\0');
  return nul < 0 ? line : line.slice(0, nul);
}

function toFileLine(line: number, name: string, value: string | undefined, isSuggested: boolean): FileLine {
  const option = findOption(name);
  const wrong = (fault: string, remedy: string): FileLine => ({
    kind: 'wrong',
    line,
    fault,
    written: textOfOctets(name),
    remedy,
  });
  if (option === undefined) {
    const nearest = isSuggested ? nearestName(name) : undefined;
    const remedy = nearest === undefined ? 'See --help for all options.' : `Did you mean ${nearest}?`;
    return wrong('unknown option', remedy);
  }
  if (value !== undefined && option.takes === 'nothing')
    return wrong('a value given to an option without one', 'Leave out what stands behind the name.');
  if (value === undefined && option.takes === 'value')
    return wrong('without its value', `Give it as in ${name}${option.shows ?? '=<value>'}.`);
  return { kind: 'option', line, option, value };
}

export type ConfigLine =
  | { readonly kind: 'empty' }
  | { readonly kind: 'unterminated' }
  /** `value` may contain escaped characters; undefined without an equals sign. */
  | { readonly kind: 'option'; readonly name: string; readonly value: string | undefined };

const ESCAPES: ReadonlyMap<string, string> = new Map<string, string>([
  ['"', '"'],
  ['\\', '\\'],
  ['t', '\t'],
  ['n', '\n'],
  ['e', '\x1b'],
  ['b', '\b'],
  ['r', '\r'],
]);
const SPACE = /[ \t\n\v\f\r]/;
/** Quotes, comments and blanks other than the space. Nearly all lines of long lists contain none of these. */
const SPECIAL = /["#\t\n\v\f\r]/;

/** @param line octets, without the final newline */
export function readConfigLine(line: string): ConfigLine {
  const unquoted = SPECIAL.test(line) ? readQuotes(line) : line;
  if (unquoted === undefined) return { kind: 'unterminated' };
  const text = withoutEndSpaces(withoutLeadSpaces(unquoted));
  if (text === '') return { kind: 'empty' };
  const equals = text.indexOf('=');
  if (equals < 0) return { kind: 'option', name: text, value: undefined };
  return {
    kind: 'option',
    name: withoutEndSpaces(text.slice(0, equals)),
    value: withoutLeadSpaces(text.slice(equals + 1)),
  };
}

/** The line without comment and quotes, with quoted characters escaped; undefined if a quote is not closed. */
function readQuotes(line: string): string | undefined {
  let text = '';
  let afterSpace = true;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '"') {
      const quoted = readQuoted(line, at + 1);
      if (quoted === undefined) return undefined;
      text += quoted.text;
      at = quoted.next;
      if (at === line.length) break;
    }
    const character = line[at] ?? '';
    const isSpace = SPACE.test(character);
    if (afterSpace && character === '#') break;
    text += isSpace ? ' ' : character;
    afterSpace = isSpace;
  }
  return text;
}

function readQuoted(line: string, start: number): { text: string; next: number } | undefined {
  let text = '';
  for (let at = start; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (character === '"') return { text, next: at + 1 };
    const escaped = character === '\\' ? ESCAPES.get(line[at + 1] ?? '') : undefined;
    if (escaped !== undefined) at += 1;
    text += escapeText(escaped ?? character);
  }
  return undefined;
}
