/**
 * `any`: questions for ANY get a short answer, or are refused.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { isOwned } from '@portolan/kernel/contract/name-owner.ts';
import { readBareUse } from '@portolan/plugin';
import { type AnyOptions, createAnyHandler } from './any.ts';

export const any = definePlugin({
  name: 'any',
  answers: true,
  syntax: ['any'],
  read(cursor): AnyOptions {
    cursor.firstUse(() => readBareUse(cursor));
    return { policy: 'obsolete' };
  },
  create: ({ policy }, context) => ({
    handler: createAnyHandler(policy, policy === 'obsolete' ? () => true : isOwned(context)),
  }),
});
