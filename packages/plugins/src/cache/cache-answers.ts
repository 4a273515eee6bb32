/**
 * What each kind of rules does in its own way: where answers lie, which of them are kept, and how they are given.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Next } from '@portolan/kernel/chain/handler.ts';
import type { AnswerKeeper } from '@portolan/kernel/chain/handover-answer.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';

/** A cached answer found for a question. */
export interface FoundAnswer {
  /** Seconds since it was stored. */
  readonly age: number;
  /** Seconds that it has left; 0 or less: it is stale. */
  readonly left: number;
}

/** The outcome of asking again for a cached answer. */
export interface Refreshed {
  /** Undefined: no answer came. */
  readonly answer: Answer | undefined;
  /** Whether it takes the place of an expired answer (RFC 8767 section 4). */
  readonly isFresh: boolean;
}

export interface RefreshReason {
  /** Whether no client waits for the answer. */
  readonly isOurs: boolean;
  /** Whether the cached answer has expired. Until then, any other one takes its place. */
  readonly isStale: boolean;
}

export interface CacheAnswers<Kept extends FoundAnswer> extends AnswerKeeper {
  /** Grows with every change of the sources of answers. */
  readonly generation: number;
  /** Whether clients wait for a refresh that another one has caused, and get its answer. */
  readonly joinsRefreshes: boolean;
  /** Whether each query that finds a stale answer asks again. Otherwise one of them does, and none right after a failure. */
  readonly eachRefreshes: boolean;
  /** The answer to a question, fresh, or stale and still to be served. */
  find(query: Query): Kept | undefined;
  /** Counts a query. @param found undefined: the handlers behind the cache answer it */
  count(query: Query, found: Kept | undefined): void;
  /** Asks the handlers behind, and keeps their answer. */
  fetch(query: Query, next: Next): Answer | Promise<Answer>;
  /** Asks again for an answer that is cached. */
  refresh(query: Query, next: Next, reason: RefreshReason): Promise<Refreshed>;
  /** Whether an answer is popular and near its end. Counts the query for it. */
  isDue(found: Kept): boolean;
  /** Whether the last refresh has not failed just now. */
  mayRefresh(found: Kept): boolean;
  endRefresh(query: Query, found: Kept, isFresh: boolean, reason: RefreshReason): void;
  /** @returns milliseconds that a client waits for a fresh answer; undefined: as long as it takes */
  patienceFor(query: Query, found: Kept): number | undefined;
  /** Gives a fresh answer. */
  give(query: Query, found: Kept): Answer;
  /** Gives an expired answer because no new one came in time. */
  giveStale(query: Query, found: Kept): Answer;
  /** An answer as it is, fresh or stale. */
  show(query: Query, found: Kept): Answer;
  /** Drops the answers for a name and all names below it. */
  forget(domain: NameKey): void;
}
