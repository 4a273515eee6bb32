/**
 * Keeps second queries a small part of all: when a server slows down under load, asking twice as much would not help it.
 */
const EARNED_PER_QUESTION = 0.1;
/** A quiet server may ask second servers for a handful of questions in a row. */
const MOST_SAVED = 10;

export class HedgeBudget {
  #saved = MOST_SAVED;
  #taken = 0;

  /** How many there were. */
  get taken(): number {
    return this.#taken;
  }

  /** Counts a question. */
  earn(): void {
    this.#saved = Math.min(this.#saved + EARNED_PER_QUESTION, MOST_SAVED);
  }

  /** Whether a second server may be asked now. */
  take(): boolean {
    if (this.#saved < 1) return false;
    this.#saved -= 1;
    this.#taken += 1;
    return true;
  }
}
