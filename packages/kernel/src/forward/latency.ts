/**
 * The latency of answers from upstream, counted in buckets for Prometheus.
 */

/** Upper bounds of the buckets, in milliseconds. The last bucket has no bound. */
const BOUNDS: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

export interface LatencyCounts {
  /** Upper bound in seconds, and number of answers that took at most so long. */
  readonly buckets: readonly (readonly [seconds: number, count: number])[];
  /** Seconds, of all answers together. */
  readonly sum: number;
  readonly count: number;
}

export class Latency {
  readonly #counts = BOUNDS.map(() => 0);
  #sum = 0;
  #count = 0;

  observe(milliseconds: number): void {
    this.#sum += milliseconds;
    this.#count += 1;
    const range = BOUNDS.findIndex((bound) => milliseconds <= bound);
    if (range >= 0) this.#counts[range] = (this.#counts[range] ?? 0) + 1;
  }

  count(): LatencyCounts {
    let below = 0;
    const buckets = BOUNDS.map((bound, index) => {
      below += this.#counts[index] ?? 0;
      return [bound / 1000, below] as const;
    });
    return { buckets, sum: this.#sum / 1000, count: this.#count };
  }
}
