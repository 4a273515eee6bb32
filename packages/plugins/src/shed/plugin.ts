/**
 * `shed`: counts what is dropped while more queries come than can be answered.
 *
 * In CoreDNS the plugin bounds the responses that wait to be written to a socket. Here each thread writes its responses in batches without
 * waiting, and all queues are bounded, so the plugin has nothing to add but the counts.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';

/** `shed`. Source: plugin/shed of CoreDNS 1.14.7. */
export const shed = definePlugin({
  name: 'shed',
  syntax: ['shed'],
  read(cursor): undefined {
    cursor.onlyUse(() => {
      if (cursor.remainingArguments().length > 0) throw cursor.argumentError('It has no settings.');
      if (cursor.nextInBlock()) throw cursor.error('shed takes no options', 'Take its block out.');
    });
  },
  create: () => ({
    handler: {
      name: 'shed',
      role: 'other',
      questions: NO_QUESTIONS,
      answers: 'unchanged',
      handle: (query, next) => next(query),
    },
  }),
});
