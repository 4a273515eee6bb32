/**
 * Splits the text of a master file into entries of words (RFC 1035 section 5.1).
 *
 * An entry is a line, or several lines inside parentheses. `;` begins a comment. Words in quotation marks may hold blanks;
 * escapes stay as they are, since names and strings read them differently.
 */
import { ItemFault } from '@portolan/kernel/base/item-guard.ts';

export interface ZoneWord {
  /** Without its quotation marks, with its escapes. */
  readonly text: string;
  readonly isQuoted: boolean;
  /** From 1. */
  readonly line: number;
  /** Characters in the line up to the end of the word. */
  readonly column: number;
}

export interface ZoneEntry {
  /** At least one. */
  readonly words: readonly ZoneWord[];
  /** Whether the line begins with a blank: then the owner is that of the previous entry. */
  readonly continuesOwner: boolean;
}

/** The field of a record's data with a fault. */
export interface DataField {
  /** The name of the type. */
  readonly type: string;
  /** From 0. */
  readonly index: number;
}

/** A fault in a master file, with its word. */
export class ZoneFileFault extends ItemFault {
  override readonly name = 'ZoneFileFault';
  readonly line: number;
  readonly column: number;
  /** The word, for messages; undefined if a word is missing. */
  readonly word: string | undefined;
  readonly field: DataField | undefined;

  constructor(
    what: string,
    { line, column, text }: { line: number; column: number; text?: string | undefined },
    field?: DataField,
  ) {
    super('malformed', what);
    this.line = line;
    this.column = column;
    this.word = text;
    this.field = field;
  }

  /** The same fault, with the field of the record's data. */
  inField(field: DataField): ZoneFileFault {
    return new ZoneFileFault(this.message, { line: this.line, column: this.column, text: this.word }, field);
  }
}

/** Yields the entries in order. @throws ZoneFileFault for an unmatched parenthesis or quotation mark */
export function* readEntries(text: string): Generator<ZoneEntry, void> {
  const reader = new EntryReader(text.startsWith('\ufeff') ? text.slice(1) : text);
  for (let entry = reader.next(); entry !== undefined; entry = reader.next()) yield entry;
}

class EntryReader {
  readonly #text: string;
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): ZoneEntry | undefined {
    while (this.#at < this.#text.length) {
      const continuesOwner = this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t';
      const words = this.#entry();
      if (words.length > 0) return { words, continuesOwner };
    }
    return undefined;
  }

  #entry(): ZoneWord[] {
    const words: ZoneWord[] = [];
    const open: { line: number; column: number; text: string }[] = [];
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at];
      if (character === '\n') {
        this.#endLine();
        if (open.length === 0) return words;
      } else if (character === ' ' || character === '\t' || character === '\r') this.#at += 1;
      else if (character === ';') this.#skipComment();
      else if (character === '(') {
        open.push({ line: this.#line, column: this.#column(this.#at + 1), text: '(' });
        this.#at += 1;
      } else if (character === ')') {
        if (open.pop() === undefined) throw this.#fault('a closing parenthesis without an opening one', ')');
        this.#at += 1;
      } else words.push(character === '"' ? this.#quoted() : this.#bare());
    }
    const [first] = open;
    if (first !== undefined) throw new ZoneFileFault('a parenthesis that is not closed', first);
    return words;
  }

  #endLine(): void {
    this.#at += 1;
    this.#line += 1;
    this.#lineStart = this.#at;
  }

  #skipComment(): void {
    const end = this.#text.indexOf('\n', this.#at);
    this.#at = end < 0 ? this.#text.length : end;
  }

  #bare(): ZoneWord {
    const start = this.#at;
    while (this.#at < this.#text.length && !/[ \t\r\n;()"]/.test(this.#text[this.#at] ?? ''))
      // The character after a backslash is part of the word, unless it is the end of the line.
      this.#at += this.#text[this.#at] === '\\' && this.#text[this.#at + 1] !== '\n' ? 2 : 1;
    this.#at = Math.min(this.#at, this.#text.length);
    return this.#word(this.#text.slice(start, this.#at), false);
  }

  #quoted(): ZoneWord {
    const start = this.#at + 1;
    const opened = { line: this.#line, column: this.#column(start), text: '"' };
    for (this.#at = start; this.#text[this.#at] !== '"'; this.#at += 1) {
      if (this.#at >= this.#text.length) throw new ZoneFileFault('a string that is not closed', opened);
      if (this.#text[this.#at] === '\\' && this.#text[this.#at + 1] !== '\n') this.#at += 1;
    }
    this.#at += 1;
    const word = this.#word(this.#text.slice(start, this.#at - 1), true);
    this.#countLines(word.text, start);
    return word;
  }

  /** A string may go on in further lines. @param start of its text */
  #countLines(text: string, start: number): void {
    const lines = text.split('\n').length - 1;
    if (lines === 0) return;
    this.#line += lines;
    this.#lineStart = start + text.lastIndexOf('\n') + 1;
  }

  #word(text: string, isQuoted: boolean): ZoneWord {
    return { text, isQuoted, line: this.#line, column: this.#column(this.#at) };
  }

  #column(at: number): number {
    return at - this.#lineStart;
  }

  #fault(what: string, text: string): ZoneFileFault {
    return new ZoneFileFault(what, { line: this.#line, column: this.#column(this.#at + 1), text });
  }
}
