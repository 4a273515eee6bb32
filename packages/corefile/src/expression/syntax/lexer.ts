/**
 * An expression's tokens, read one at a time: a fault of the syntax is reported before one of the characters behind it.
 */
import { isPrintable, isSpace, quoteOctets, toOctets } from '../text/octets.ts';
import { ExpressionError } from './expression-error.ts';
import { NEGATED } from './operators.ts';
import { StringLiteralError, unescapeBytes, unescapeString } from './string-literal.ts';

export type TokenKind = 'Identifier' | 'Number' | 'String' | 'Bytes' | 'Operator' | 'Bracket' | 'EOF';

export interface ExpressionToken {
  readonly kind: TokenKind;
  /** Octets: of a string, those that it stands for. */
  readonly value: string;
  /** Offset in code points. */
  readonly at: number;
}

/** A token in a message: `Operator("==")`. */
export function describeToken({ kind, value }: ExpressionToken): string {
  return value === '' ? kind : `${kind}(${quoteOctets(value)})`;
}

const WORD = /^[\p{L}\p{Nd}_$]$/u;
/** Words that are operators. Behind `not`, some of them are a token of their own. */
export const OPERATOR_WORDS: ReadonlySet<string> = new Set(
  'in or and matches contains startsWith endsWith let if else not'.split(' '),
);

const DECIMAL = '0123456789_';
const HEXADECIMAL = `${DECIMAL}abcdefABCDEF`;

export class ExpressionLexer {
  readonly #text: string;
  readonly #points: readonly string[];
  /** Where the token begins, and where reading stands. */
  #start = 0;
  #at = 0;
  /** The word behind `not` or `#`. */
  #pending: ExpressionToken | undefined;
  #isDone = false;

  constructor(text: string) {
    this.#text = text;
    this.#points = [...text];
  }

  /** @returns undefined behind the end @throws ExpressionError */
  next(): ExpressionToken | undefined {
    const pending = this.#pending;
    if (pending !== undefined) {
      this.#pending = undefined;
      return pending;
    }
    if (this.#isDone) return undefined;
    this.#skipSpaceAndComments();
    this.#start = this.#at;
    const character = this.#points[this.#at];
    if (character === undefined) {
      this.#isDone = true;
      return { kind: 'EOF', value: '', at: Math.max(0, this.#at - 1) };
    }
    return this.#read(character);
  }

  #read(character: string): ExpressionToken {
    const next = this.#points[this.#at + 1] ?? '';
    if (character === "'" || character === '"') return this.#readString(character);
    if (character === '`') return this.#readRawString();
    if (/^[bB]$/.test(character) && /^['"]$/.test(next)) return this.#readBytes(next);
    if (/^\d$/.test(character) || (character === '.' && /^\d$/.test(next))) return this.#readNumber();
    if (WORD.test(character)) return this.#readWord();
    this.#at++;
    if ('([{}])'.includes(character)) return this.#token('Bracket');
    if (character === '?') this.#accept('.?');
    else if (character === '#') return this.#readPointer();
    else if ('|:.'.includes(character)) this.#accept(character);
    else if ('&!=*<>'.includes(character)) this.#accept('&=*');
    else if (!',;%+-^/'.includes(character)) throw this.#fault(`unrecognized character: ${name(character)}`);
    return this.#token('Operator');
  }

  #token(kind: TokenKind, value = toOctets(this.#word())): ExpressionToken {
    return { kind, value, at: this.#start };
  }

  #word(): string {
    return this.#points.slice(this.#start, this.#at).join('');
  }

  /** @param at behind the character that is at fault */
  #fault(fault: string, at = this.#at): ExpressionError {
    return new ExpressionError(fault, this.#text, at - 1);
  }

  #accept(characters: string): boolean {
    const character = this.#points[this.#at];
    if (character === undefined || !characters.includes(character)) return false;
    this.#at++;
    return true;
  }

  #acceptAll(characters: string): void {
    while (this.#accept(characters));
  }

  #skipSpaceAndComments(): void {
    for (;;) {
      const character = this.#points[this.#at];
      const next = this.#points[this.#at + 1];
      if (character !== undefined && isSpace(character)) this.#at++;
      else if (character === '/' && next === '/') this.#skipLine();
      else if (character === '/' && next === '*') this.#skipComment();
      else return;
    }
  }

  #skipLine(): void {
    const end = this.#points.indexOf('\n', this.#at);
    this.#at = end < 0 ? this.#points.length : end + 1;
  }

  #skipComment(): void {
    this.#at += 2;
    while (this.#points[this.#at] !== '*' || this.#points[this.#at + 1] !== '/')
      if (++this.#at >= this.#points.length) throw this.#fault('unclosed comment', this.#points.length + 1);
    this.#at += 2;
  }

  #readWord(): ExpressionToken {
    const word = this.#takeWord();
    if (word === 'not') this.#readNegated();
    return {
      kind: OPERATOR_WORDS.has(word) ? 'Operator' : 'Identifier',
      value: toOctets(word),
      at: this.#start,
    };
  }

  #takeWord(): string {
    const from = this.#at;
    while (WORD.test(this.#points[this.#at] ?? '')) this.#at++;
    return this.#points.slice(from, this.#at).join('');
  }

  /** `not in` is two tokens. */
  #readNegated(): void {
    const end = this.#at;
    this.#acceptAll(' ');
    const at = this.#at;
    const word = this.#takeWord();
    if (NEGATED.has(word)) this.#pending = { kind: 'Operator', value: word, at };
    else this.#at = end;
  }

  /** `#acc` is two tokens. */
  #readPointer(): ExpressionToken {
    this.#accept('#');
    const token = this.#token('Operator');
    const at = this.#at;
    const word = this.#takeWord();
    if (word !== '') this.#pending = { kind: 'Identifier', value: toOctets(word), at };
    return token;
  }

  #readNumber(): ExpressionToken {
    let digits = DECIMAL;
    // `.5`: what is behind the dot may have any form, and is read as a number later.
    this.#accept('.');
    if (this.#accept('0')) {
      if (this.#accept('xX')) digits = HEXADECIMAL;
      else if (this.#accept('oO')) digits = '01234567_';
      else if (this.#accept('bB')) digits = '01_';
    }
    this.#acceptAll(digits);
    const isRange = this.#points[this.#at] === '.' && this.#points[this.#at + 1] === '.';
    if (isRange) return this.#token('Number');
    if (this.#accept('.')) this.#acceptAll(digits);
    if (this.#accept('eE')) {
      this.#accept('+-');
      this.#acceptAll(digits);
    }
    if (WORD.test(this.#points[this.#at] ?? '')) {
      this.#at++;
      throw this.#fault(`bad number syntax: ${quoteOctets(toOctets(this.#word()))}`);
    }
    return this.#token('Number');
  }

  #readString(quote: string): ExpressionToken {
    const word = this.#takeQuoted(quote);
    return this.#token(
      'String',
      this.#unescape(() => unescapeString(word)),
    );
  }

  #readBytes(quote: string): ExpressionToken {
    this.#at++;
    const word = this.#takeQuoted(quote);
    return this.#token(
      'Bytes',
      this.#unescape(() => unescapeBytes(word)),
    );
  }

  #unescape(read: () => string): string {
    try {
      return read();
    } catch (error) {
      throw error instanceof StringLiteralError ? this.#fault(error.message) : error;
    }
  }

  /** @returns what is between the quotation marks */
  #takeQuoted(quote: string): string {
    const from = ++this.#at;
    for (let character = this.#take(); character !== quote; ) {
      if (character === undefined) throw this.#fault('literal not terminated', this.#points.length + 1);
      if (character === '\n') throw this.#fault('literal not terminated');
      character = character === '\\' ? this.#takeEscape(quote) : this.#take();
    }
    return this.#points.slice(from, this.#at - 1).join('');
  }

  #take(): string | undefined {
    return this.#points[this.#at++];
  }

  /** @returns the character behind the escape */
  #takeEscape(quote: string): string | undefined {
    const character = this.#take();
    if (character === 'u' && this.#points[this.#at] === '{') return this.#takeLongEscape();
    if (character !== undefined && `abfnrtv\\${quote}`.includes(character)) return this.#take();
    if (character !== undefined && /^[0-7]$/.test(character))
      return this.#takeDigits(character, /^[0-7]$/, 3);
    const digits = { x: 2, u: 4, U: 8 }[character ?? ''];
    if (digits === undefined) throw this.#fault('invalid char escape', this.#end());
    return this.#takeDigits(this.#take(), /^[\da-fA-F]$/, digits);
  }

  #takeDigits(first: string | undefined, digit: RegExp, count: number): string | undefined {
    let character = first;
    for (let taken = 0; taken < count; taken++) {
      if (character === undefined || !digit.test(character))
        throw this.#fault('invalid char escape', this.#end());
      character = this.#take();
    }
    return character;
  }

  /** `\u{1F600}` */
  #takeLongEscape(): string | undefined {
    const [, braces] =
      /^(\{[\da-fA-F]{1,6}\})/.exec(this.#points.slice(this.#at, this.#at + 8).join('')) ?? [];
    if (braces === undefined) {
      this.#at++;
      for (let taken = 0; taken < 6 && /^[\da-fA-F]$/.test(this.#points[this.#at] ?? ''); taken++) this.#at++;
      throw this.#fault('invalid char escape');
    }
    this.#at += braces.length;
    return this.#take();
  }

  /** Where reading stands; the end of the text counts as a character. */
  #end(): number {
    return Math.min(this.#at, this.#points.length + 1);
  }

  /** Between backquotes nothing has a meaning, and two stand for one. */
  #readRawString(): ExpressionToken {
    let value = '';
    this.#at++;
    for (;;) {
      const character = this.#take();
      if (character === undefined) throw this.#fault('literal not terminated', this.#points.length + 1);
      if (character === '`' && !this.#accept('`')) return this.#token('String', toOctets(value));
      value += character;
    }
  }
}

/** `U+0040 '@'` */
function name(character: string): string {
  const point = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  return isPrintable(character) ? `${point} '${character}'` : point;
}
