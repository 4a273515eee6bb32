/**
 * How popular questions with cached answers are, and when their answers may be refreshed again. Only some rules need it.
 */
import { type QuestionKey, toCachedQuestion } from '@portolan/kernel/forward/question-key.ts';
import { type QuestionText, textOfQuestion } from '@portolan/kernel/forward/question-text.ts';
import type { CachedEntry } from '@portolan/kernel/table/types.ts';

/** Times in milliseconds of the monotonic clock. */
interface Known {
  /** Consecutive queries that were answered, without a long pause between two of them. */
  readonly hits: number;
  readonly lastHit: number;
  /** Earliest time of the next attempt to refresh the answer. */
  readonly retryAt: number;
}

export class Popularity {
  /** The oldest first. */
  readonly #known = new Map<QuestionText, Known>();
  readonly #max: number;

  /** @param max questions */
  constructor(max: number) {
    this.#max = max;
  }

  /** Of an answer, or of one that it has replaced. */
  of(entry: CachedEntry): Known {
    const known = this.#known.size === 0 ? undefined : this.#known.get(textOfQuestion(entry));
    return known ?? { hits: 0, lastHit: entry.storedAt, retryAt: 0 };
  }

  note(entry: CachedEntry, known: Known): void {
    const text = textOfQuestion(entry);
    this.#known.delete(text);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < this.#max) break;
      this.#known.delete(oldest);
    }
    this.#known.set(text, known);
  }

  forget(question: QuestionKey): void {
    if (this.#known.size > 0) this.#known.delete(textOfQuestion(toCachedQuestion(question)));
  }
}
