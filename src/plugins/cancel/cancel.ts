/**
 * Bounds the time that a query may take. In CoreDNS the plugin sets a deadline that only plugins which ask other servers read,
 * and `forward` has its own timeouts. So the deadline changes no answer in CoreDNS, and none here.
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
