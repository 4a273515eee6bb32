/**
 * Answers of handlers to queries, and their contents as responses. The contract of plugins has their types.
 */
import type { Reply } from '@portolan/dns/query.ts';
import { RCODE, type ResourceRecord } from '@portolan/dns/types.ts';
import type { Answer, Denial } from '@portolan/plugin';

export type { Answer, Forwarded, OwnEdns, WholeAnswer } from '@portolan/plugin';

const RCODE_OF = {
  refused: RCODE.REFUSED,
  servfail: RCODE.SERVFAIL,
  notimp: RCODE.NOTIMP,
  formerr: RCODE.FORMERR,
  overloaded: RCODE.REFUSED,
} as const;

/** The contents of the response. Aliases that no handler has followed are sent as they are. */
export function toReply(answer: Exclude<Answer, { kind: 'drop' }>): Reply {
  switch (answer.kind) {
    case 'records':
      return {
        authoritative: answer.authoritative,
        truncated: answer.truncated === true,
        answers: answer.records,
        additionals: answer.additionals,
      };
    case 'alias':
      return { authoritative: answer.authoritative, answers: answer.records };
    case 'nodata':
    case 'nxdomain':
      return denial(answer);
    case 'forwarded': {
      const { rcode, authoritative, truncated, authenticData, answers, authorities, additionals } = answer;
      return { rcode, authoritative, truncated, authenticData, answers, authorities, additionals };
    }
    case 'message': {
      const { kind: _, edns: __, reason: ___, extendedError: ____, passedErrors: _____, ...parts } = answer;
      return parts;
    }
    default:
      return { rcode: RCODE_OF[answer.kind] };
  }
}

function denial({ kind, aliases, soa, authoritative }: Denial): Reply {
  const authorities: readonly ResourceRecord[] = soa === undefined ? [] : [soa];
  const rcode = kind === 'nxdomain' ? RCODE.NXDOMAIN : RCODE.NOERROR;
  return { rcode, authoritative, answers: aliases, authorities };
}
