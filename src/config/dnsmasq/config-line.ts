/**
 * One line of a configuration file: comments, quotes, escapes, and the option's name and value.
 *
 * An oddity of dnsmasq is kept, since files may lean on it: the character behind a closing quote is an ordinary one, even
 * if it is another quote.
 */
import { veil } from './octets.ts';
import { withoutEndSpaces, withoutLeadSpaces } from './pieces.ts';

export type ConfigLine =
  | { readonly kind: 'empty' }
  | { readonly kind: 'unterminated' }
  /** `value` may hold veiled characters; it is undefined where there is no equals sign. */
  | { readonly kind: 'option'; readonly name: string; readonly value: string | undefined };

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  t: '\t',
  n: '\n',
  e: '\x1b',
  b: '\b',
  r: '\r',
};
const SPACE = /[ \t\n\v\f\r]/;

/** @param line Octets, without the newline that ends it. */
export function readConfigLine(line: string): ConfigLine {
  const unquoted = readQuotes(line);
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

/** The line without comment and quotes, veiled where it was quoted; nothing if a quote is not closed. */
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
    const escaped = character === '\\' ? ESCAPES[line[at + 1] ?? ''] : undefined;
    if (escaped !== undefined) at += 1;
    text += veil(escaped ?? character);
  }
  return undefined;
}
