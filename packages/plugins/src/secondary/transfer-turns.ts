/**
 * Bounds how many zones are fetched at once: a catalog may list many.
 */
export class TransferTurns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** @param count transfers at once */
  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when it is the caller's turn. @returns ends the turn; call it once */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }
}
