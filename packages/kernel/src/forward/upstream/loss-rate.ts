/**
 * The part of queries to a server that is lost, or whose replies are, among the last few hundred.
 *
 * Silence proves nothing, since a server may be slow or dead. A loss is proven if a later query of the same question is
 * answered while an earlier one is not.
 */
/** Above this many queries, older ones count half. */
const MAX_COUNTED = 256;
/** With fewer queries, missing ones count as answered. */
const MIN_COUNTED = 8;
/** The probability below which consecutive losses are not explained by chance. */
const IMPROBABLE = 1e-6;
/** The same if another server answers: then a server that is suspected in vain costs only a probe. */
const IMPROBABLE_BESIDES_OTHERS = 1e-3;

export class LossRate {
  #lost = 0;
  #answered = 0;

  /** Counts queries whose reply came, in time or late. */
  noteAnswered(queries = 1): void {
    this.#answered += queries;
    this.#forget();
  }

  /** Counts proven losses. */
  noteLost(queries: number): void {
    this.#lost += queries;
    this.#forget();
  }

  /** From 0 to below 1. */
  get rate(): number {
    return this.#lost / Math.max(this.#lost + this.#answered, MIN_COUNTED);
  }

  /** Consecutive queries without a reply, from 6 to 60, that this loss rate does not explain. */
  get improbableRow(): number {
    return this.#row(IMPROBABLE, MIN_ROW);
  }

  /** Consecutive questions, from 2 to 60, that this server did not answer in its time but another one did: losses do not explain them. */
  get improbableOutruns(): number {
    return this.#row(IMPROBABLE_BESIDES_OTHERS, MIN_OUTRUNS);
  }

  #row(probability: number, min: number): number {
    const { rate } = this;
    if (rate === 0) return min;
    const row = Math.log(probability) / Math.log(Math.min(rate, MAX_RATE));
    return Math.min(Math.max(Math.ceil(row), min), MAX_ROW);
  }

  #forget(): void {
    const counted = this.#lost + this.#answered;
    if (counted <= MAX_COUNTED) return;
    this.#lost *= MAX_COUNTED / 2 / counted;
    this.#answered *= MAX_COUNTED / 2 / counted;
  }
}

const MIN_ROW = 6;
const MIN_OUTRUNS = 2;
const MAX_ROW = 60;
const MAX_RATE = 0.9;
