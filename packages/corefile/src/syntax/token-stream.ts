/**
 * A stream of the words of a Corefile, where imported words replace their import.
 */
import { startsNewLine, type Token } from './token.ts';

export class TokenStream {
  /** A stack: the innermost import is last. */
  readonly #sources: { readonly tokens: readonly Token[]; at: number }[] = [];
  /** The last word taken. */
  #previous: Token | undefined;

  constructor(tokens: readonly Token[]) {
    this.insert(tokens);
  }

  get previous(): Token | undefined {
    return this.#previous;
  }

  /** Returns the next word without taking it. */
  peek(): Token | undefined {
    for (let source = this.#sources.at(-1); source !== undefined; source = this.#sources.at(-1)) {
      const token = source.tokens[source.at];
      if (token !== undefined) return token;
      this.#sources.pop();
    }
    return undefined;
  }

  take(): Token | undefined {
    const token = this.peek();
    const source = this.#sources.at(-1);
    if (token === undefined || source === undefined) return undefined;
    source.at += 1;
    this.#previous = token;
    return token;
  }

  /** Whether the next word begins a line. */
  isNewLine(): boolean {
    const next = this.peek();
    return next !== undefined && (this.#previous === undefined || startsNewLine(this.#previous, next));
  }

  /** Inserts words before the next one. */
  insert(tokens: readonly Token[]): void {
    if (tokens.length > 0) this.#sources.push({ tokens, at: 0 });
  }

  /** Restores `previous` as the last word taken, so that an import leaves no trace. */
  forgetBackTo(previous: Token | undefined): void {
    this.#previous = previous;
  }
}
