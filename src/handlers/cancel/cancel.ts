/**
 * Bounds the time that a query may take. In CoreDNS the bound ends nothing that is waited for: it only says that whoever asks
 * further is to give up, and `forward` has bounds of its own. So no query sees it here either.
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
