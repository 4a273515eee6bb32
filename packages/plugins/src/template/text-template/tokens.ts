/**
 * Splits the text of a template into pieces of text and words of actions.
 */
import type { Span } from './nodes.ts';

export type ActionToken = Span &
  (
    | { readonly kind: 'field' | 'variable' | 'word'; readonly text: string }
    | { readonly kind: 'string' | 'number'; readonly value: string | number }
    | { readonly kind: 'sign'; readonly text: string }
  ) & {
    /** Whether a blank precedes it: `.A .B` are two operands, `.A.B` is one. */
    readonly isApart: boolean;
  };

export type TemplatePiece =
  | { readonly kind: 'text'; readonly text: string }
  | ({ readonly kind: 'action'; readonly tokens: readonly ActionToken[] } & Span);

/** A syntax error in the text of a template, with its position in characters. */
export class TemplateSyntaxError extends Error {
  override readonly name = 'TemplateSyntaxError';
  readonly at: number;

  constructor(what: string, at: number) {
    super(what);
    this.at = at;
  }
}

const BLANK = ' \t\r\n';
const TRIM_START = /^[ \t\r\n]+/;
const TRIM_END = /[ \t\r\n]+$/;

/** @throws TemplateSyntaxError */
export function splitTemplate(source: string): readonly TemplatePiece[] {
  const pieces: TemplatePiece[] = [];
  let at = 0;
  let trimsStart = false;
  while (at < source.length) {
    const open = source.indexOf('{{', at);
    const text = source.slice(at, open < 0 ? undefined : open);
    const trimsEnd = open >= 0 && source[open + 2] === '-' && BLANK.includes(source[open + 3] ?? 'x');
    const started = trimsStart ? text.replace(TRIM_START, '') : text;
    pieces.push({ kind: 'text', text: trimsEnd ? started.replace(TRIM_END, '') : started });
    if (open < 0) return pieces;
    const action = readAction(source, open, open + (trimsEnd ? 3 : 2));
    pieces.push({ kind: 'action', tokens: action.tokens, start: open, end: action.end });
    at = action.end;
    trimsStart = action.trims;
  }
  return pieces;
}

interface Action {
  readonly tokens: readonly ActionToken[];
  /** Behind the closing braces. */
  readonly end: number;
  readonly trims: boolean;
}

function readAction(source: string, open: number, from: number): Action {
  const comment = /^\s*\/\*.*?\*\/(?:\s-)?\}\}/s.exec(source.slice(from));
  if (comment !== null) {
    const end = from + comment[0].length;
    return { tokens: [], end, trims: comment[0].endsWith('-}}') };
  }
  const tokens: ActionToken[] = [];
  let at = from;
  let isApart = false;
  for (;;) {
    if (at >= source.length) throw new TemplateSyntaxError('unclosed action', open);
    const trims = BLANK.includes(source[at] ?? 'x') && source.startsWith('-}}', at + 1);
    if (trims) return { tokens, end: at + 4, trims: true };
    if (source.startsWith('}}', at)) return { tokens, end: at + 2, trims: false };
    if (BLANK.includes(source[at] ?? 'x')) {
      isApart = true;
      at += 1;
      continue;
    }
    const token = readToken(source, at, isApart);
    tokens.push(token);
    at = token.end;
    isApart = false;
  }
}

function readToken(source: string, start: number, isApart: boolean): ActionToken {
  const rest = source.slice(start);
  const place = (text: string) => ({ start, end: start + text.length, isApart });
  const number =
    /^[+-]?(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)/.exec(rest)?.[0];
  if (number !== undefined) return { kind: 'number', value: Number(number), ...place(number) };
  const field = /^\.[\p{L}_][\p{L}\p{N}_]*/u.exec(rest)?.[0];
  if (field !== undefined) return { kind: 'field', text: field.slice(1), ...place(field) };
  const variable = /^\$[\p{L}\p{N}_]*/u.exec(rest)?.[0];
  if (variable !== undefined) return { kind: 'variable', text: variable, ...place(variable) };
  const word = /^[\p{L}_][\p{L}\p{N}_]*/u.exec(rest)?.[0];
  if (word !== undefined) return { kind: 'word', text: word, ...place(word) };
  const sign = /^(?::=|[.=,|()])/.exec(rest)?.[0];
  if (sign !== undefined) return { kind: 'sign', text: sign, ...place(sign) };
  const raw = /^`[^`]*`/.exec(rest)?.[0];
  if (raw !== undefined) return { kind: 'string', value: raw.slice(1, -1), ...place(raw) };
  const quoted = /^"(?:[^"\\\n]|\\.)*"/.exec(rest)?.[0];
  if (quoted !== undefined) return { kind: 'string', value: unquote(quoted, start), ...place(quoted) };
  const character = /^'(?:[^'\\\n]|\\.)'/u.exec(rest)?.[0];
  if (character !== undefined) {
    const value = unquote(`"${character.slice(1, -1)}"`, start).codePointAt(0) ?? 0;
    return { kind: 'number', value, ...place(character) };
  }
  if (rest.startsWith('"')) throw new TemplateSyntaxError('unterminated quoted string', start);
  if (rest.startsWith('`')) throw new TemplateSyntaxError('unterminated raw quoted string', start);
  if (rest.startsWith("'")) throw new TemplateSyntaxError('unterminated character constant', start);
  throw new TemplateSyntaxError(`unexpected ${JSON.stringify(rest[0])} in command`, start);
}

const ESCAPES: ReadonlyMap<string, string> = new Map<string, string>([
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
]);

function unquote(quoted: string, at: number): string {
  return quoted
    .slice(1, -1)
    .replace(
      /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(0[0-9a-fA-F]{7})|([0-7]{3})|(.))/gs,
      (_, hex?: string, short?: string, long?: string, octal?: string, letter?: string) => {
        const digits = hex ?? short ?? long;
        const code = digits === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(digits, 16);
        if (letter === undefined && code <= 0x10ffff) return String.fromCodePoint(code);
        const escaped = ESCAPES.get(letter ?? '');
        if (escaped === undefined) throw new TemplateSyntaxError('invalid syntax in quoted string', at);
        return escaped;
      },
    );
}
