/**
 * Queries that another thread has sent and given up, until this thread asks the question, usually at once. A question
 * that was answered otherwise is forgotten after a while.
 */
import type { Clock } from '../base/clock.ts';
import type { ReaderAttempt } from './query-runner.ts';
import type { QuestionKey } from './question-key.ts';

const MAX_QUERIES = 1024;
const MAX_MILLISECONDS = 1000;

interface Noted {
  readonly tried: ReaderAttempt;
  readonly at: number;
}

export class ReaderAttempts {
  readonly #clock: Clock;
  /** The oldest first. */
  readonly #queries = new Map<string, Noted>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The next equal question continues with this query. */
  add(question: QuestionKey, tried: ReaderAttempt): void {
    const now = this.#clock.monotonic();
    for (const [key, { at }] of this.#queries) {
      if (this.#queries.size < MAX_QUERIES && now - at < MAX_MILLISECONDS) break;
      this.#queries.delete(key);
    }
    this.#queries.set(toQuestionKey(question), { tried, at: now });
  }

  /** Takes out the query for a question. */
  take(question: QuestionKey): ReaderAttempt | undefined {
    if (this.#queries.size === 0) return undefined;
    const key = toQuestionKey(question);
    const known = this.#queries.get(key);
    this.#queries.delete(key);
    return known?.tried;
  }

  /** Milliseconds since the question was asked there; 0 if it was not. */
  waited(question: QuestionKey): number {
    const known = this.#queries.size === 0 ? undefined : this.#queries.get(toQuestionKey(question));
    return known === undefined ? 0 : this.#clock.monotonic() - known.tried.askedAt;
  }
}

function toQuestionKey({
  name,
  type,
  class: dnsClass,
  dnssecOk,
  checkingDisabled,
  recursionDesired,
  options,
}: QuestionKey): string {
  const passed = options === undefined ? '' : Buffer.from(options).toString('latin1');
  return `${name} ${type} ${dnsClass} ${dnssecOk} ${checkingDisabled} ${recursionDesired} ${passed}`;
}
