/**
 * Answers questions that are not about records of class IN with an error code, each as its RFC says. Readers do the
 * same where a view says so; what comes here came by other ways.
 */
import type { Answer } from '../../chain/answer.ts';
import type { Handler } from '../../chain/handler.ts';
import { anyName } from '../../chain/match.ts';
import { codeOfMetaType, META_TYPES } from '../../wire/meta-types.ts';
import { CLASS, RCODE } from '../../wire/types.ts';

/** As answers of the chain have them. */
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
