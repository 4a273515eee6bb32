/**
 * Words of a Corefile and their positions.
 */

/** The position of a word. An imported word has the position in its own file; `imported` records the import. */
export interface Position {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly imported: ImportStep | undefined;
}

/** One `import` on the path from the Corefile to a word. */
export interface ImportStep {
  readonly kind: 'snippet' | 'file';
  /** The snippet's name, or the absolute path of the file. */
  readonly name: string;
  /** The position of the `import`. */
  readonly at: Position;
}

export interface Token {
  /** Without the quotes around it. */
  readonly text: string;
  readonly position: Position;
  /** Offsets into its file, with the quotes: of its first character, and behind its last one. */
  readonly start: number;
  readonly end: number;
  /** Whether a `#` ended the word, so the text up to the next blank was dropped as a comment. */
  readonly isCutByComment: boolean;
}

/** `file:line`, for messages. */
export function describePosition({ file, line }: Position): string {
  return `${file}:${line}`;
}

/** Whether `next` starts a new line: it is in another file, or in a later line than the end of `token`. */
export function startsNewLine(token: Token, next: Token): boolean {
  return token.position.file !== next.position.file || computeLastLine(token) < next.position.line;
}

/** Whether `next` is in the line in which `token` ends. */
export function sharesLine(token: Token, next: Token): boolean {
  return token.position.file === next.position.file && computeLastLine(token) === next.position.line;
}

/** Quoted words may span lines. */
function computeLastLine({ text, position }: Token): number {
  return position.line + (text.split('\n').length - 1);
}
