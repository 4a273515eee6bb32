/**
 * Answers queries from a cache, whatever its rules.
 *
 * An expired answer may be served stale (RFC 8767). The query for it asks the handlers behind for a new one. If they fail, or take longer
 * than a client should wait, the client gets the stale answer.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { DryRun } from '@portolan/kernel/chain/dry-run.ts';
import type { Next } from '@portolan/kernel/chain/handler.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { QuestionKey } from '@portolan/kernel/forward/question-key.ts';
import { QuestionTable } from '@portolan/kernel/forward/question-table.ts';
import type { CacheAnswers, FoundAnswer, Refreshed, RefreshReason } from './cache-answers.ts';

/** A question that is asked again for a cached answer. */
interface Refresh {
  readonly question: QuestionKey;
  /** What the client that waits for it gets; undefined: none waits. */
  answer: Promise<Answer> | undefined;
  nextInChain: Refresh | undefined;
}

const REFRESH_CHAINS = 256;
const FAILED: Refreshed = { answer: undefined, isFresh: false };

export class Answering<Kept extends FoundAnswer> {
  readonly #answers: CacheAnswers<Kept>;
  readonly #clock: Clock;
  readonly #refreshes = new QuestionTable<Refresh>(REFRESH_CHAINS);

  constructor(answers: CacheAnswers<Kept>, clock: Clock) {
    this.#answers = answers;
    this.#clock = clock;
  }

  answer(query: Query, next: Next): Answer | Promise<Answer> {
    if (query.look !== undefined) return this.#look(query, query.look, next);
    const answers = this.#answers;
    const found = answers.find(query);
    answers.count(query, found);
    if (found === undefined) return answers.fetch(query, next);
    if (found.left <= 0) return this.#answerStale(query, found, next);
    if (answers.isDue(found)) this.#begin(query, found, next, { isOurs: true, isStale: false });
    return answers.give(query, found);
  }

  /** Gives an answer as it is stored: it is not refreshed, and its popularity does not change. */
  #look(query: Query, look: DryRun, next: Next): Answer | Promise<Answer> {
    const found = look.passesCaches ? undefined : this.#answers.find(query);
    if (found === undefined) return next(query);
    look.foundEntry({ name: query.key, age: found.age, left: found.left });
    return this.#answers.show(query, found);
  }

  #answerStale(query: Query, found: Kept, next: Next): Answer | Promise<Answer> {
    const answers = this.#answers;
    query.forbidStoring();
    const underWay = answers.joinsRefreshes ? this.#refreshes.find(query.questionKey)?.answer : undefined;
    if (underWay !== undefined) return underWay;
    const patience = answers.patienceFor(query, found);
    const { generation } = answers;
    const begun = this.#begin(query, found, next, { isOurs: patience === 0, isStale: true });
    if (begun === undefined) return answers.giveStale(query, found);
    const { refresh, refreshed } = begun;
    refresh.answer = this.#inTime(refreshed, patience).then((fresh) => {
      if (fresh?.answer !== undefined && fresh.isFresh) return fresh.answer;
      // The stale answer may be from servers that must not be asked any more.
      if (generation !== answers.generation)
        return refreshed.then(({ answer }) => answer ?? { kind: 'servfail' });
      return answers.giveStale(query, found);
    });
    return refresh.answer;
  }

  /** Asks again. @returns undefined: not now */
  #begin(
    query: Query,
    found: Kept,
    next: Next,
    reason: RefreshReason,
  ): { readonly refresh: Refresh; readonly refreshed: Promise<Refreshed> } | undefined {
    const answers = this.#answers;
    const question = query.questionKey;
    const isEach = answers.eachRefreshes && !reason.isOurs;
    if (!isEach && (this.#refreshes.find(question) !== undefined || !answers.mayRefresh(found)))
      return undefined;
    const refresh: Refresh = { question, answer: undefined, nextInChain: undefined };
    this.#refreshes.add(refresh);
    const end = (refreshed: Refreshed) => {
      this.#refreshes.remove(refresh);
      answers.endRefresh(query, found, refreshed.isFresh, reason);
      return refreshed;
    };
    const refreshed = answers.refresh(query, next, reason).then(end, () => end(FAILED));
    return { refresh, refreshed };
  }

  /** @returns undefined if it takes longer than `patience`, in milliseconds */
  #inTime(refreshed: Promise<Refreshed>, patience: number | undefined): Promise<Refreshed | undefined> {
    if (patience === undefined) return refreshed;
    if (patience === 0) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const timer = this.#clock.after(patience, () => resolve(undefined));
      void refreshed.then((outcome) => {
        timer.cancel();
        resolve(outcome);
      });
    });
  }
}
