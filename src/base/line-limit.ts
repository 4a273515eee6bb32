/**
 * Bounds the lines of what anybody can cause at any rate: a few in a period, then the number of others at its end.
 */
import type { Clock, Timer } from './clock.ts';

export interface LineLimitOptions {
  /** Lines of a period. */
  readonly lines: number;
  /** Milliseconds. A period begins with its first line. */
  readonly period: number;
  readonly clock: Pick<Clock, 'after'>;
  /** Logs how many more there were. */
  readonly tellMore: (count: number) => void;
}

export class LineLimit {
  readonly #options: LineLimitOptions;
  /** Of the period. */
  #count = 0;
  #timer: Timer | undefined;

  constructor(options: LineLimitOptions) {
    this.#options = options;
  }

  /** @returns whether the line is logged */
  take(): boolean {
    const { lines, period, clock } = this.#options;
    this.#count += 1;
    if (this.#count === 1) this.#timer = clock.after(period, () => this.#end());
    return this.#count <= lines;
  }

  /** Tells at once what has not been told yet. */
  stop(): void {
    this.#timer?.cancel();
    this.#end();
  }

  #end(): void {
    const more = this.#count - this.#options.lines;
    this.#count = 0;
    if (more > 0) this.#options.tellMore(more);
  }
}
