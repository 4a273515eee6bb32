/**
 * Turns away questions that are not about records of the Internet class, each as its RFC says.
 */
import type { Answer } from '../chain/answer.ts';
import type { Handler } from '../chain/chain.ts';
import { CLASS, TYPE } from '../wire/types.ts';

const TURNED_AWAY: ReadonlyMap<number, Answer> = new Map<number, Answer>([
  // They stand in the additional section and are never asked for (RFC 6891 section 6.1.1, RFC 8945 section 5.1).
  [TYPE.OPT, { kind: 'formerr' }],
  [TYPE.TSIG, { kind: 'formerr' }],
  // We do not transfer zones (RFC 5936 section 2.2.1, RFC 1995 section 2).
  [TYPE.AXFR, { kind: 'refused' }],
  [TYPE.IXFR, { kind: 'refused' }],
  // RFC 2930, and what RFC 1035 had for mail.
  [TYPE.TKEY, { kind: 'notimp' }],
  [TYPE.MAILA, { kind: 'notimp' }],
  [TYPE.MAILB, { kind: 'notimp' }],
]);

export const checkQuestionKind: Handler = (query, next) => {
  if (query.question.class !== CLASS.IN) return { kind: 'refused' };
  return TURNED_AWAY.get(query.question.type) ?? next(query);
};
