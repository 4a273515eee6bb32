/**
 * `cancel`: bounds the time that a query may take.
 *
 * In CoreDNS the plugin sets a deadline that only plugins which ask other servers read, and `forward` has its own timeouts. So the
 * deadline changes no answer in CoreDNS, and none here.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { parseGoDuration } from '@portolan/corefile/directive/go-values.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';

export interface CancelOptions {
  /** Milliseconds, more than 0. */
  readonly timeout: number;
}

const DEFAULT_TIMEOUT = 5001;
const REMEDY = 'Give one duration longer than 0s, such as 3s.';

/** `cancel [TIMEOUT]`: 5001ms. Source: plugin/cancel of CoreDNS 1.14.7. */
export const cancel = definePlugin({
  name: 'cancel',
  syntax: ['cancel [TIMEOUT]'],
  read(cursor): CancelOptions {
    let timeout = DEFAULT_TIMEOUT;
    cursor.eachUse(() => {
      const [text] = cursor.remainingBetween(0, 1);
      if (text === undefined) return;
      const given = parseGoDuration(text);
      if (given.kind === 'bad') throw cursor.bareError(`invalid duration: ${JSON.stringify(text)}`, REMEDY);
      if (given.value <= 0)
        throw cursor.bareError(`invalid negative duration: ${JSON.stringify(text)}`, REMEDY);
      timeout = given.value;
    });
    return { timeout };
  },
  create: () => ({ handler: createCancelHandler() }),
});

export function createCancelHandler(): Handler {
  return {
    name: 'cancel',
    role: 'other',
    questions: NO_QUESTIONS,
    answers: 'unchanged',
    handle: (query, next) => next(query),
  };
}
