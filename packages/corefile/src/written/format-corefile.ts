/**
 * Formats a Corefile: indents lines by their braces, and puts one blank between words and one empty line between server blocks.
 *
 * It moves no word to another line, because lines have a meaning, and keeps quotation marks and comments.
 */
import { readTokens, withoutMark } from '../syntax/lexer.ts';
import { startsNewLine, type Token } from '../syntax/token.ts';
import { BraceError, readStatements } from './statements.ts';

const INDENT = '    ';

interface Line {
  readonly words: readonly Token[];
  /** Empty: none. */
  readonly comment: string;
}

/**
 * @param file the path for messages
 * @throws BraceError
 */
export function formatCorefile(text: string, file: string): string {
  const source = withoutMark(text);
  // Without matching braces, depth has no meaning.
  readStatements(source, file, 'blocks');
  const page = new CorefileLines();
  for (const { words, comment } of readLines(source, file)) {
    const raw = words.map(({ start, end }) => source.slice(start, end).replace(/\r$/, ''));
    page.add([...raw, comment].filter((part) => part !== '').join(' '), {
      closes: words[0]?.text === '}',
      opens: words.at(-1)?.text === '{',
    });
  }
  // An open quotation mark takes the line end that a formatted file has.
  const written = readTokens(source, file);
  const formatted = readTokens(page.text, file);
  const changed = formatted.find(({ text: word }, place) => written[place]?.text !== word);
  if (changed !== undefined) throw new BraceError(changed, 'this quotation mark is not closed');
  return page.text;
}

/** The lines written so far. */
class CorefileLines {
  readonly #lines: string[] = [];
  #depth = 0;
  /** The last line closed a server block. */
  #isAfterBlock = false;

  add(text: string, { closes, opens }: { readonly closes: boolean; readonly opens: boolean }): void {
    const last = this.#lines.at(-1);
    if (text === '') {
      if (last !== undefined && last !== '' && !last.endsWith('{')) this.#lines.push('');
      return;
    }
    if (closes) {
      this.#depth -= 1;
      this.#dropEmptyEnd();
    } else if (this.#isAfterBlock && last !== '') this.#lines.push('');
    this.#lines.push(INDENT.repeat(this.#depth) + text);
    if (opens) this.#depth += 1;
    this.#isAfterBlock = closes && this.#depth === 0;
  }

  get text(): string {
    this.#dropEmptyEnd();
    return this.#lines.map((line) => `${line}\n`).join('');
  }

  #dropEmptyEnd(): void {
    if (this.#lines.at(-1) === '') this.#lines.pop();
  }
}

function* readLines(source: string, file: string): Iterable<Line> {
  let words: Token[] = [];
  let at = 0;
  for (const token of readTokens(source, file)) {
    const last = words.at(-1);
    if (last === undefined || startsNewLine(last, token)) {
      yield* linesOfGap(source.slice(at, token.start), words);
      words = [];
    }
    words.push(token);
    at = token.end;
  }
  yield* linesOfGap(`${source.slice(at)}\n`, words);
}

/** The line that ends in a gap between words, and the lines without words in it. */
function* linesOfGap(gap: string, words: readonly Token[]): Iterable<Line> {
  const pieces = gap.split('\n').slice(0, -1);
  for (const [index, piece] of pieces.entries())
    if (index > 0 || words.length > 0 || piece.trim() !== '' || pieces.length > 1)
      yield { words: index === 0 ? words : [], comment: piece.trim() };
}
