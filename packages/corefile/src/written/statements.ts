/**
 * A Corefile as it is written: its lines and the blocks that they open, before imports and variables are replaced.
 *
 * Each word knows its place in the text, so a program can change some words and keep all other characters.
 */
import { readTokens } from '../syntax/lexer.ts';
import { describePosition, type Position, startsNewLine, type Token } from '../syntax/token.ts';

/** A line, with the block that it opens. */
export interface Statement {
  /** At least one, without the braces. */
  readonly words: readonly Token[];
  /** The braces around the block; undefined: no block, or a file whose only server block has no braces. */
  readonly braces: { readonly open: Token; readonly close: Token } | undefined;
  readonly inner: readonly Statement[];
}

/** What a file contains: whole server blocks, the plugins of one, or the options of a plugin. */
export type StatementLevel = 'blocks' | 'plugins' | 'options';

/** The braces of a text do not match, so no program can tell what belongs together. */
export class BraceError extends Error {
  override readonly name = 'BraceError';

  constructor({ position }: { readonly position: Position }, fault: string) {
    super(`${describePosition(position)}: ${fault}`);
  }
}

/**
 * @param file the path for positions
 * @throws BraceError
 */
export function readStatements(text: string, file: string, level: StatementLevel): readonly Statement[] {
  const reader = new StatementReader(readTokens(text, file));
  return level === 'blocks' ? reader.readBlocks() : reader.readAllLines();
}

class StatementReader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  readBlocks(): readonly Statement[] {
    const blocks: Statement[] = [];
    for (let next = this.#peek(); next !== undefined; next = this.#peek()) blocks.push(this.#readBlock(next));
    return blocks;
  }

  readAllLines(): readonly Statement[] {
    const lines = this.#readLines();
    const rest = this.#peek();
    if (rest !== undefined) throw new BraceError(rest, 'this closing brace closes nothing');
    return lines;
  }

  #readBlock(first: Token): Statement {
    if (first.text === 'import') return this.#readLine();
    if (first.text === '}') throw new BraceError(first, 'this closing brace closes nothing');
    const words = this.#readKeys();
    const open = this.#peek();
    if (open?.text === '{') return this.#readInner(words, open);
    // Only the first block of a file may lack its braces, and it reaches to the end of the file.
    return { words, braces: undefined, inner: this.readAllLines() };
  }

  /** A comma continues the keys in the next line. */
  #readKeys(): readonly Token[] {
    const keys: Token[] = [];
    for (let next = this.#peek(); next !== undefined && next.text !== '{'; next = this.#peek()) {
      const last = keys.at(-1);
      if (last !== undefined && startsNewLine(last, next) && !last.text.endsWith(',')) break;
      if (next.text === '}') throw new BraceError(next, 'this closing brace closes nothing');
      keys.push(next);
      this.#at += 1;
    }
    const [open] = this.#tokens;
    if (keys.length === 0 && open !== undefined)
      throw new BraceError(this.#peek() ?? open, 'this server block has no key');
    return keys;
  }

  #readLines(): readonly Statement[] {
    const lines: Statement[] = [];
    for (let next = this.#peek(); next !== undefined && next.text !== '}'; next = this.#peek()) {
      if (next.text === '{') throw new BraceError(next, 'this brace follows no word of its line');
      lines.push(this.#readLine());
    }
    return lines;
  }

  #readLine(): Statement {
    const words: Token[] = [];
    for (let next = this.#peek(); next !== undefined; next = this.#peek()) {
      const last = words.at(-1);
      if (last !== undefined && startsNewLine(last, next)) break;
      if (next.text === '{') return this.#readInner(words, next);
      if (next.text === '}') throw new BraceError(next, 'a closing brace needs a line of its own');
      words.push(next);
      this.#at += 1;
    }
    return { words, braces: undefined, inner: [] };
  }

  #readInner(words: readonly Token[], open: Token): Statement {
    this.#at += 1;
    const first = this.#peek();
    if (first !== undefined && !startsNewLine(open, first) && first.text !== '}')
      throw new BraceError(first, 'an opening brace ends its line');
    const inner = this.#readLines();
    const close = this.#peek();
    if (close === undefined) throw new BraceError(open, 'this brace is not closed');
    this.#at += 1;
    const after = this.#peek();
    if (after !== undefined && !startsNewLine(close, after))
      throw new BraceError(after, 'a closing brace ends its line');
    return { words, braces: { open, close }, inner };
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#at];
  }
}
