/**
 * How many queries a stream may still show in this second.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';

const SECOND = 1_000;

export class SecondBudget {
  readonly #perSecond: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #left = 0;
  #until = Number.NEGATIVE_INFINITY;

  /** @param perSecond undefined: any number */
  constructor(perSecond: number | undefined, clock: Pick<Clock, 'monotonic'>) {
    this.#perSecond = perSecond ?? Number.POSITIVE_INFINITY;
    this.#clock = clock;
  }

  /** Whether nothing is left of it. */
  get isSpent(): boolean {
    const now = this.#clock.monotonic();
    if (now >= this.#until) {
      this.#left = this.#perSecond;
      this.#until = now + SECOND;
    }
    return this.#left <= 0;
  }

  spend(): void {
    this.#left -= 1;
  }
}
