/**
 * A histogram of latencies: buckets that double from a quarter of a millisecond to 8 seconds, as in the original.
 */
const UPPER_ENDS: readonly number[] = Array.from({ length: 16 }, (_, index) => 0.25 * 2 ** index);

export class Latencies {
  /** The count of each bucket; the last one is for latencies above all upper ends. */
  readonly #counts: number[] = Array.from({ length: UPPER_ENDS.length + 1 }, () => 0);
  #sum = 0;
  #count = 0;

  /** @param latency in milliseconds */
  add(latency: number): void {
    const found = UPPER_ENDS.findIndex((end) => latency <= end);
    const index = found < 0 ? UPPER_ENDS.length : found;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += latency;
    this.#count += 1;
  }

  /** The cumulative count of latencies up to each upper end. */
  get buckets(): readonly (readonly [upperEnd: number, count: number])[] {
    let below = 0;
    return UPPER_ENDS.map((end, index) => {
      below += this.#counts[index] ?? 0;
      return [end, below];
    });
  }

  /** In milliseconds. */
  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.#count;
  }
}
