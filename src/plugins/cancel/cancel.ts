/**
 * Bounds the time that a query may take. In CoreDNS the plugin sets a deadline that only plugins which ask other servers look at,
 * and `forward` has timeouts of its own. So the deadline changes no answer, there or here.
 */
import type { Handler } from '../../chain/handler.ts';
import { NO_QUESTIONS } from '../../chain/match.ts';

export function createCancelHandler(): Handler {
  return {
    name: 'cancel',
    role: 'other',
    questions: NO_QUESTIONS,
    answers: 'unchanged',
    handle: (query, next) => next(query),
  };
}
