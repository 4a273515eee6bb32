/**
 * The text of a Corefile as words.
 *
 * Blanks separate words, `#` begins a comment, and a word that begins with a quotation mark runs to the next one. Inside
 * quotation marks only `\"` is an escape; every other backslash stays.
 */
import type { Token } from './token.ts';

/** White space as Unicode has it (the property White_Space), which is what CoreDNS goes by. */
const BLANK = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** @param file Stands in the positions of the words. */
export function readTokens(text: string, file: string): readonly Token[] {
  const lexer = new Lexer(text.startsWith('\ufeff') ? text.slice(1) : text, file);
  const tokens: Token[] = [];
  for (let token = lexer.next(); token !== undefined; token = lexer.next()) tokens.push(token);
  return tokens;
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
    // The blank that ended the word ends the comment too, as in CoreDNS: what follows it counts.
    return this.#token(word, line, isComment);
  }

  #quotedWord(): Token | undefined {
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
    // A quotation mark that ends the file makes no word.
    return word === '' && !isClosed ? undefined : this.#token(word, line, false);
  }

  #token(text: string, line: number, isCutByComment: boolean): Token {
    return { text, position: { file: this.#file, line, imported: undefined }, isCutByComment };
  }
}
