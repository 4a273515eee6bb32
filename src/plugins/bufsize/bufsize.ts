/**
 * Keeps responses small enough that they are not fragmented: the configured UDP size replaces a larger one in a query.
 */
import type { Handler } from '../../chain/handler.ts';
import { NO_QUESTIONS } from '../../chain/match.ts';
import type { BufsizeOptions } from './options.ts';

export function createBufsizeHandler({ size }: BufsizeOptions): Handler {
  return {
    name: 'bufsize',
    role: 'other',
    questions: NO_QUESTIONS,
    // Readers bound the size as well.
    answers: 'modifiers',
    handle(query, next) {
      if (query.edns === undefined || query.edns.udpSize <= size) return next(query);
      const edns = { ...query.edns, udpSize: size };
      query.repeat({ edns });
      return next(query.with({ edns }));
    },
  };
}
