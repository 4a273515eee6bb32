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
  readonly logMore: (count: number) => void;
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

  /** Reports now what the end of the period would report. */
  stop(): void {
    this.#timer?.cancel();
    this.#end();
  }

  #end(): void {
    const more = this.#count - this.#options.lines;
    this.#count = 0;
    if (more > 0) this.#options.logMore(more);
  }
}
