/**
 * Splits the text of a Corefile into words.
 *
 * Blanks separate words, and `#` begins a comment. A word that begins with a quotation mark ends at the next one. Inside quotes only
 * `\"` is an escape; other backslashes are literal.
 */
import type { Token } from './token.ts';

/** White space of Unicode (the property White_Space), as in CoreDNS. */
const BLANK = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** @param file the path for the positions of the words */
export function readTokens(text: string, file: string): readonly Token[] {
  const lexer = new Lexer(withoutMark(text), file);
  const tokens: Token[] = [];
  for (let token = lexer.next(); token !== undefined; token = lexer.next()) tokens.push(token);
  return tokens;
}

/** The text without a byte order mark: offsets of words count from here. */
export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

class Lexer {
  readonly #text: string;
  readonly #file: string;
  #at = 0;
  #line = 1;

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  next(): Token | undefined {
    this.#skipToWord();
    if (this.#at >= this.#text.length) return undefined;
    return this.#text[this.#at] === '"' ? this.#quotedWord() : this.#bareWord();
  }

  #skipToWord(): void {
    let isComment = false;
    for (; this.#at < this.#text.length; this.#at += 1) {
      const character = this.#text[this.#at] ?? '';
      if (character === '\n') {
        this.#line += 1;
        isComment = false;
      } else if (character === '#') isComment = true;
      else if (!isComment && !BLANK.test(character)) return;
    }
  }

  #bareWord(): Token {
    const start = this.#at;
    const line = this.#line;
    let word = '';
    let isComment = false;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? '';
      if (character !== '\r' && BLANK.test(character)) break;
      this.#at += 1;
      if (character === '#') isComment = true;
      if (!isComment && character !== '\r') word += character;
    }
    // As in CoreDNS, the blank that ends the word ends the comment too; the text after it is read.
    return this.#token(word, line, start, isComment);
  }

  #quotedWord(): Token | undefined {
    const start = this.#at;
    const line = this.#line;
    let word = '';
    let isClosed = false;
    for (this.#at += 1; this.#at < this.#text.length && !isClosed; this.#at += 1) {
      const character = this.#text[this.#at] ?? '';
      const following = this.#text[this.#at + 1];
      if (character === '"') isClosed = true;
      else if (character === '\\' && following !== undefined) {
        word += following === '"' ? following : character + following;
        if (following === '\n') this.#line += 1;
        this.#at += 1;
      } else if (character !== '\\') {
        if (character === '\n') this.#line += 1;
        word += character;
      }
    }
    // A lone quotation mark at the end of the file is not a word.
    return word === '' && !isClosed ? undefined : this.#token(word, line, start, false);
  }

  #token(text: string, line: number, start: number, isCutByComment: boolean): Token {
    const position = { file: this.#file, line, imported: undefined };
    return { text, position, start, end: this.#at, isCutByComment };
  }
}
