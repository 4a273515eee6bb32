/**
 * Judges whether a server block with a view is for a query.
 */
import { EvaluationError } from '@portolan/corefile/expression/values/budget.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { ViewOptions } from './options.ts';
import { createEnvironment, createQueryFunctions, QUERY_TYPES } from './query-functions.ts';

/** A condition that fails, or gives no truth value, is not met: as in CoreDNS, without a line in the log. */
export function createViewTest({ conditions }: ViewOptions, clock: Clock): (query: Query) => boolean {
  let judged: Query | undefined;
  const functions = createQueryFunctions(() => {
    if (judged === undefined) throw new TypeError('no query');
    return judged;
  });
  const environment = createEnvironment(QUERY_TYPES, functions);
  const now = () => clock.now();
  return (query) => {
    judged = query;
    try {
      return conditions.every(({ evaluate }) => evaluate(environment, now) === true);
    } catch (error) {
      if (error instanceof EvaluationError) return false;
      throw error;
    } finally {
      judged = undefined;
    }
  };
}
