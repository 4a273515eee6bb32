/**
 * The handlers in their order. Each answers, or lets the next one do it; the last one must answer.
 */
import type { Answer } from './answer.ts';
import type { Query } from './query.ts';

/** Asks the handlers behind this one: the same query, or one that it leads to. */
export type Next = (query: Query) => Answer | Promise<Answer>;

export type Handler = (query: Query, next: Next) => Answer | Promise<Answer>;

/** All handlers as one. */
export type Chain = (query: Query) => Answer | Promise<Answer>;

/** @param handlers in order; behind the last one everything is refused */
export function composeChain(handlers: readonly Handler[]): Chain {
  return handlers.reduceRight<Chain>(
    (next, handler) => (query) => handler(query, next),
    () => ({ kind: 'refused' }),
  );
}
