/**
 * `forward-limit`: SkyDNS's `-ndots` and `-no-rec`. Names with too few labels are not forwarded.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { countLabels } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';

export interface ForwardLimitOptions {
  /** Names with fewer labels are refused; infinite: all names are refused. */
  readonly minLabels: number;
}

export const forwardLimit = definePlugin({
  name: 'forward-limit',
  create: ({ minLabels }: ForwardLimitOptions) => ({ handler: createForwardLimit(minLabels) }),
});

/** @param minLabels minimum number of labels of forwarded names; infinite: all names are refused */
export function createForwardLimit(minLabels: number): Handler {
  const isShort = (name: NameKey) => countLabels(name) < minLabels;
  return {
    name: 'forward-limit',
    role: 'other',
    answers: 'unchanged',
    questions: {
      includes: isShort,
      matches: () => [{ name: { kind: 'any' }, types: 'all', maxLabels: minLabels - 1 }],
    },
    handle(query, next) {
      if (!isShort(query.key)) return next(query);
      return { kind: 'servfail', reason: 'the name has too few labels to be forwarded' };
    },
  };
}
