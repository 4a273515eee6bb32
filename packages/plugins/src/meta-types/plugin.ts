/**
 * `meta-types`: questions that are not about records of class IN get an error code, as the RFCs require. Readers do the same if a view
 * says so; this plugin gets queries that arrive by other paths.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { codeOfMetaType, META_TYPES } from '@portolan/dns/meta-types.ts';
import { CLASS, RCODE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { anyName } from '@portolan/kernel/chain/match.ts';

export const metaTypes = definePlugin({
  name: 'meta-types',
  create: (_: undefined) => ({ handler: metaTypesHandler }),
});

/** Response codes as answers of the chain. */
const KINDS: ReadonlyMap<number, Answer> = new Map<number, Answer>([
  [RCODE.FORMERR, { kind: 'formerr' }],
  [RCODE.REFUSED, { kind: 'refused' }],
  [RCODE.NOTIMP, { kind: 'notimp' }],
]);

/** Answers questions of other classes than IN with REFUSED, and questions for meta types with the code of each. */
export const metaTypesHandler: Handler = {
  name: 'meta-types',
  role: 'other',
  answers: 'unchanged',
  questions: anyName(META_TYPES),
  handle(query, next) {
    if (query.question.class !== CLASS.IN) return { kind: 'refused' };
    const code = codeOfMetaType(query.question.type);
    return (code === undefined ? undefined : KINDS.get(code)) ?? next(query);
  },
};
