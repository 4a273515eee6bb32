/**
 * A cursor over the words of one directive, for the code that reads its settings.
 *
 * A fault ends the current property or use. Reading continues after it, so that all faults are found.
 */
import { findNearest } from '@portolan/kernel/base/nearest.ts';
import type { Cursor, Use } from '@portolan/plugin';
import { type CorefileFindings, parseError, syntaxError } from '../syntax/findings.ts';
import type { DirectiveNode } from '../syntax/syntax-tree.ts';
import { describePosition, type Position, sharesLine, type Token } from '../syntax/token.ts';
import type { GoValue } from './go-values.ts';

/** A fault of a directive. The message is CoreDNS's, after `plugin/NAME: `. */
export class DirectiveError extends Error {
  override readonly name = 'DirectiveError';
  readonly position: Position;
  /** How to fix it: a whole sentence. */
  readonly remedy: string;
  /** Whether CoreDNS may start with it. */
  readonly isOwn: boolean;

  constructor(message: string, position: Position, remedy: string, isOwn = false) {
    super(message);
    this.position = position;
    this.remedy = remedy;
    this.isOwn = isOwn;
  }
}

/** One use of a directive, as it is written. */
interface DirectiveUse extends Use {
  readonly head: Token;
  readonly args: readonly Token[];
  readonly lines: readonly (readonly Token[])[];
}

/** Plugins from outside see it as a `Cursor`. */
export class DirectiveCursor implements Cursor {
  readonly #node: DirectiveNode;
  readonly #findings: CorefileFindings;
  #at = -1;
  #depth = 0;

  constructor(node: DirectiveNode, findings: CorefileFindings) {
    this.#node = node;
    this.#findings = findings;
  }

  /** The word read last. */
  get word(): string {
    return this.#token.text;
  }

  get position(): Position {
    return this.#token.position;
  }

  get #token(): Token {
    const token = this.#node.tokens[Math.max(this.#at, 0)];
    return token ?? { text: '', position: this.#node.position, start: 0, end: 0, isCutByComment: false };
  }

  get #next(): Token | undefined {
    return this.#node.tokens[this.#at + 1];
  }

  /** Reads all uses at once; a fault ends it. The result counts only if there are no faults. */
  whole<Options>(read: (uses: readonly Use[]) => Options): Options {
    const { tokens, heads } = this.#node;
    const starts = tokens.flatMap((token, place) => (heads.has(token) ? [place] : []));
    try {
      return read(starts.map((start, index) => parseDirectiveUse(tokens.slice(start, starts[index + 1]))));
    } catch (error) {
      if (!isFault(error)) throw error;
      const { message, remedy } = error;
      const position = this.#node.tokens.find((token) => token.position === error.position)?.position;
      const at = position ?? this.position;
      this.refuse(new DirectiveError(parseError(at, message), at, remedy));
      return undefined as Options;
    }
  }

  /** Reads each use of the directive. */
  eachUse(read: () => void): void {
    while (this.#advance())
      this.#guard(read, () => {
        this.#depth = 0;
        while (this.#next !== undefined && !this.#node.heads.has(this.#next)) this.#advance();
      });
  }

  /** Reads the only use of a directive that may appear once per block. */
  onlyUse(read: () => void): void {
    this.firstUse(read);
    if (!this.#advance()) return;
    const first = describePosition(this.#node.position);
    const isUse = this.#node.heads.has(this.#token);
    this.refuse(
      new DirectiveError(
        'this plugin can only be used once per Server Block',
        this.position,
        isUse
          ? `It is used at ${first} already. Put the settings of both into one.`
          : `This line does not belong to the plugin of ${first}: put its brace into that line.`,
      ),
    );
  }

  /** Reads the first use; further uses have no effect. */
  firstUse(read: () => void): void {
    if (!this.#advance()) return;
    this.#guard(read, () => {
      this.#depth = 0;
      while (this.#next !== undefined && !this.#node.heads.has(this.#next)) this.#advance();
    });
  }

  /** Whether words are left. */
  hasMore(): boolean {
    return this.#next !== undefined;
  }

  /** The next word of the line, braces included. */
  argument(): string | undefined {
    const next = this.#next;
    if (next === undefined || !sharesLine(this.#token, next)) return undefined;
    this.#advance();
    return next.text;
  }

  /** @throws DirectiveError if the line has no more words */
  requiredArgument(): string {
    const word = this.argument();
    if (word === undefined) throw this.argumentError();
    return word;
  }

  /** The remaining words of the line, up to a brace. */
  remainingArguments(): readonly string[] {
    const words: string[] = [];
    while (this.#next !== undefined && this.#next.text !== '{' && sharesLine(this.#token, this.#next)) {
      words.push(this.#next.text);
      this.#advance();
    }
    return words;
  }

  /** @throws DirectiveError if there are fewer or more words */
  remainingBetween(min: number, max: number): readonly string[] {
    const words = this.remainingArguments();
    if (words.length < min || words.length > max) throw this.argumentError();
    return words;
  }

  /** Reads the next line of the block that opens in this line. @returns whether there is one */
  nextInBlock(): boolean {
    if (this.#depth === 0) {
      const next = this.#next;
      if (next === undefined || next.text !== '{' || !sharesLine(this.#token, next)) return false;
      this.#advance();
      if (!this.#advance() || this.word === '}') return false;
      this.#depth += 1;
      return true;
    }
    if (!this.#advance()) return false;
    if (this.word !== '}') return true;
    this.#depth -= 1;
    return false;
  }

  /** Reads all lines of the block with the readers of their first words. */
  properties(
    readers: Readonly<Record<string, () => void>>,
    refuseUnknown: (name: string) => DirectiveError = (name) =>
      this.unknownProperty(name, Object.keys(readers)),
  ): void {
    while (this.nextInBlock()) {
      const name = this.word;
      const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
      this.#guard(
        () => {
          if (read === undefined) throw refuseUnknown(name);
          read();
        },
        () => this.#skipLine(),
      );
    }
  }

  /** Reads a line; a fault in it does not hide faults in later lines. */
  guardLine(read: () => void): void {
    this.#guard(read, () => this.#skipLine());
  }

  unknownProperty(name: string, known: readonly string[]): DirectiveError {
    const nearest = findNearest(name, known);
    const remedy =
      nearest === undefined
        ? `Take it out, or out of this block. Known here: ${known.join(', ')}.`
        : `Did you mean ${nearest}?`;
    return this.error(`unknown property '${name}'`, remedy);
  }

  /** A fault at the word read last. */
  error(fault: string, remedy: string): DirectiveError {
    return new DirectiveError(parseError(this.position, fault), this.position, remedy);
  }

  syntaxError(expected: string, remedy: string): DirectiveError {
    return new DirectiveError(syntaxError(this.position, this.word, expected), this.position, remedy);
  }

  /** A fault that CoreDNS reports without a position. */
  bareError(message: string, remedy: string): DirectiveError {
    return new DirectiveError(message, this.position, remedy);
  }

  /** The same for what CoreDNS may take. */
  ownError(message: string, remedy: string): DirectiveError {
    return new DirectiveError(message, this.position, remedy, true);
  }

  argumentError(
    remedy = 'Compare the line with the syntax of the plugin: a word is missing, or one too many.',
  ): DirectiveError {
    const fault =
      this.word === '{'
        ? "Unexpected token '{', expecting argument"
        : `Wrong argument count or unexpected line ending after '${this.word}'`;
    return this.error(fault, remedy);
  }

  /** Returns the value, or reports its fault without a position. @throws DirectiveError */
  bare<Value>(value: GoValue<Value>, remedy: string): Value {
    if (value.kind === 'bad') throw this.bareError(value.fault, remedy);
    return value.value;
  }

  /** @param message CoreDNS's log line without the plugin name */
  warn(text: string, message?: string): void {
    const own = message === undefined ? undefined : `plugin/${this.#node.name}: ${message}`;
    this.#findings.warn(this.position, text, own);
  }

  #advance(): boolean {
    if (this.#next === undefined) return false;
    this.#at += 1;
    return true;
  }

  #guard(read: () => void, recover: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof DirectiveError)) throw error;
      this.refuse(error);
      recover();
    }
  }

  /** Records a fault and continues. */
  refuse({ message, position, remedy, isOwn }: DirectiveError): void {
    this.#findings.problems.push({
      phase: 'set-up',
      message: `plugin/${this.#node.name}: ${message}`,
      position,
      remedy,
      ...(isOwn && { isOwn }),
    });
  }

  /** Skips the rest of the line, and of a block that opens in it. */
  #skipLine(): void {
    let depth = 0;
    for (let next = this.#next; next !== undefined; next = this.#next) {
      if (depth === 0 && (next.text === '}' || !sharesLine(this.#token, next))) return;
      if (next.text === '{') depth += 1;
      if (next.text === '}') depth -= 1;
      this.#advance();
    }
  }
}

/** Made by `fault` of the contract. */
interface Fault extends Error {
  readonly position: unknown;
  readonly remedy: string;
}

function isFault(error: unknown): error is Fault {
  return error instanceof Error && error.name === 'Fault' && 'remedy' in error && 'position' in error;
}

function parseDirectiveUse([head, ...words]: readonly Token[]): DirectiveUse {
  if (head === undefined) throw new RangeError('a use without a word');
  const open = words.findIndex(({ text }) => text === '{');
  if (open < 0) return { head, args: words, lines: [] };
  const lines: Token[][] = [];
  let last = words[open];
  for (const word of words.slice(open + 1, -1)) {
    if (last === undefined || !sharesLine(last, word)) lines.push([]);
    lines.at(-1)?.push(word);
    last = word;
  }
  return { head, args: words.slice(0, open), lines };
}
