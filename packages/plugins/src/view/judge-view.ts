/**
 * Judges whether a server block with a view is for a query.
 */
import { evaluate } from '@portolan/corefile/expression/evaluate.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { ViewOptions } from './options.ts';
import { createQueryFunctions } from './query-functions.ts';

/** A condition that fails, or gives no truth value, is not met: as in CoreDNS, without a line in the log. */
export function createViewTest({ conditions }: ViewOptions): (query: Query) => boolean {
  let judged: Query | undefined;
  const functions = createQueryFunctions(() => {
    if (judged === undefined) throw new TypeError('no query');
    return judged;
  });
  return (query) => {
    judged = query;
    try {
      return conditions.every((condition) => evaluate(condition, functions) === true);
    } catch {
      return false;
    } finally {
      judged = undefined;
    }
  };
}
