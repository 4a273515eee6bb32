/**
 * A line of a Corefile while a migration changes it. It writes its changes as edits, so that all other text stays as it is.
 */
import type { Position } from '../syntax/token.ts';
import type { Statement } from '../written/statements.ts';
import { applyEdits, type TextEdit } from '../written/text-edits.ts';

const INDENT = '    ';

/** The text that a line is written in. */
export interface SourceText {
  readonly text: string;
}

export class DraftLine {
  /** The lines of its block, without those added. */
  readonly inner: readonly DraftLine[];
  /** The lines that an `import` stands for; they may belong to other imports too. */
  imported: readonly DraftLine[] = [];
  readonly #source: SourceText;
  readonly #written: Statement;
  readonly #added: AddedLine[] = [];
  #words: string[];
  #place: 'here' | 'elsewhere' | 'nowhere' = 'here';

  constructor(source: SourceText, written: Statement) {
    this.#source = source;
    this.#written = written;
    this.#words = written.words.map(({ text }) => text);
    this.inner = written.inner.map((line) => new DraftLine(source, line));
  }

  get name(): string {
    return this.#words[0] ?? '';
  }

  /** The words after the name. */
  get args(): readonly string[] {
    return this.#words.slice(1);
  }

  get words(): readonly string[] {
    return this.#words;
  }

  /** Whether it is where it was written; otherwise it is removed, or has moved to another block. */
  get isHere(): boolean {
    return this.#place === 'here';
  }

  get isRemoved(): boolean {
    return this.#place === 'nowhere';
  }

  get position(): Position {
    return this.#written.words[0]?.position ?? { file: '', line: 1, imported: undefined };
  }

  /** The lines of its block now, with imports resolved. */
  lines(): readonly DraftLine[] {
    return this.inner
      .flatMap((line) => (line.name === 'import' ? line.imported : [line]))
      .filter((line) => line.isHere);
  }

  /** Whether its block has a line of a name now. */
  has(name: string): boolean {
    return (
      this.#added.some(({ words }) => words[0] === name) || this.lines().some((line) => line.name === name)
    );
  }

  remove(): void {
    this.#place = 'nowhere';
  }

  /** Takes it out of its block; `render` writes it elsewhere. */
  moveAway(): void {
    this.#place = 'elsewhere';
  }

  setWords(...words: readonly string[]): void {
    this.#words = [...words];
  }

  /** Adds a line at the end of its block. */
  add(line: AddedLine): void {
    this.#added.push(line);
  }

  edits(): readonly TextEdit[] {
    if (!this.isHere) return [{ ...this.#wholeLines(), text: '' }];
    return [...this.#wordEdits(), ...this.#blockEdits()];
  }

  /** The whole lines with all changes, for another place. */
  render(): string {
    const { start, end } = this.#wholeLines();
    const edits = [...this.#wordEdits(), ...this.#blockEdits()];
    const own = edits.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }));
    return applyEdits(this.#source.text.slice(start, end), own).replace(/\n?$/, '\n');
  }

  #wordEdits(): readonly TextEdit[] {
    const { words } = this.#written;
    const last = words[this.#words.length - 1];
    const changed = this.#words.flatMap((word, place): readonly TextEdit[] => {
      const token = words[place];
      return token === undefined || token.text === word
        ? []
        : [{ start: token.start, end: token.end, text: word }];
    });
    const end = words.at(-1)?.end ?? 0;
    return last === undefined || last.end === end
      ? changed
      : [...changed, { start: last.end, end, text: '' }];
  }

  #blockEdits(): readonly TextEdit[] {
    const { braces } = this.#written;
    if (braces === undefined) return [...this.inner.flatMap((line) => line.edits()), ...this.#openBlock()];
    if (this.#losesBlock())
      return [{ start: this.#written.words.at(-1)?.end ?? 0, end: braces.close.end, text: '' }];
    const edits = this.inner.flatMap((line) => line.edits());
    if (this.#added.length === 0) return edits;
    const indent = this.#innerIndent();
    const text = this.#added.map((line) => showLine(line, indent)).join('');
    const { open, close } = braces;
    if (open.position.line === close.position.line)
      return [...edits, { start: open.end, end: close.start, text: `\n${text}${this.#indent()}` }];
    const start = this.#lineStart(close.start);
    return [...edits, { start, end: start, text }];
  }

  /** Opens a block behind the line, before its comment. A block without braces takes the lines at its end. */
  #openBlock(): readonly TextEdit[] {
    if (this.#added.length === 0) return [];
    if (this.inner.length > 0) {
      const end = this.#source.text.length;
      const before = this.#source.text.endsWith('\n') ? '' : '\n';
      return [{ start: end, end, text: before + this.#added.map((line) => showLine(line, '')).join('') }];
    }
    const at = this.#written.words.at(-1)?.end ?? 0;
    const end = this.#lineEnd(at);
    const lines = this.#added.map((line) => showLine(line, this.#innerIndent())).join('');
    return [
      { start: at, end: at, text: ' {' },
      { start: end, end, text: `\n${lines}${this.#indent()}}` },
    ];
  }

  /** All lines of its block are taken out, and no comment remains in it. */
  #losesBlock(): boolean {
    const { braces } = this.#written;
    if (braces === undefined || this.inner.length === 0 || this.#added.length > 0) return false;
    if (!this.inner.every((line) => !line.isHere)) return false;
    const edits = this.inner.flatMap((line) => line.edits());
    const start = braces.open.end;
    const own = edits.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }));
    return applyEdits(this.#source.text.slice(start, braces.close.start), own).trim() === '';
  }

  /** From the start of its first line to the end of its last one, with the comments in them. */
  #wholeLines(): { readonly start: number; readonly end: number } {
    const last = this.#written.braces?.close ?? this.#written.words.at(-1);
    const start = this.#lineStart(this.#written.words[0]?.start ?? 0);
    return { start, end: Math.min(this.#lineEnd(last?.end ?? 0) + 1, this.#source.text.length) };
  }

  #lineStart(offset: number): number {
    return this.#source.text.lastIndexOf('\n', offset - 1) + 1;
  }

  #lineEnd(offset: number): number {
    const end = this.#source.text.indexOf('\n', offset);
    return end < 0 ? this.#source.text.length : end;
  }

  #indent(): string {
    const start = this.#lineStart(this.#written.words[0]?.start ?? 0);
    return /^[ \t]*/.exec(this.#source.text.slice(start))?.[0] ?? '';
  }

  #innerIndent(): string {
    const [first] = this.inner;
    if (first !== undefined) return first.#indent();
    // A plugin in a server block is indented by one step.
    const own = this.#indent();
    return own === '' ? INDENT : own + own;
  }
}

/** A line that a migration adds. */
export interface AddedLine {
  readonly words: readonly string[];
  readonly inner?: readonly AddedLine[];
}

export function showLine({ words, inner = [] }: AddedLine, indent: string): string {
  const head = indent + words.join(' ');
  if (inner.length === 0) return `${head}\n`;
  const step = indent.includes('\t') ? '\t' : INDENT;
  return `${head} {\n${inner.map((line) => showLine(line, indent + step)).join('')}${indent}}\n`;
}
