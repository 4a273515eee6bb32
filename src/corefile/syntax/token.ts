/**
 * Words of a Corefile and where they stand.
 */

/** Where a word stands. A word that was imported stands in its own file; `imported` says which import brought it. */
export interface Position {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly imported: ImportStep | undefined;
}

/** One `import` on the way from the Corefile to a word. */
export interface ImportStep {
  readonly kind: 'snippet' | 'file';
  /** The snippet's name, or the absolute path of the file. */
  readonly name: string;
  /** Where the `import` stands. */
  readonly at: Position;
}

export interface Token {
  /** Without the quotes around it. */
  readonly text: string;
  readonly position: Position;
  /** A `#` ended the word, so what followed up to the next blank was taken as a comment. */
  readonly isCutByComment: boolean;
}

/** `file:line`, as messages have it. */
export function describePosition({ file, line }: Position): string {
  return `${file}:${line}`;
}

/** Whether `next` begins a line of its own: another file, or a later line than the one `token` ends in. */
export function startsNewLine(token: Token, next: Token): boolean {
  return token.position.file !== next.position.file || lastLineOf(token) < next.position.line;
}

/** Whether `next` stands in the line that `token` ends in. */
export function sharesLine(token: Token, next: Token): boolean {
  return token.position.file === next.position.file && lastLineOf(token) === next.position.line;
}

/** Quoted words may span lines. */
function lastLineOf({ text, position }: Token): number {
  return position.line + (text.split('\n').length - 1);
}
