/**
 * Answers as messages.
 */
import { isExtendedError, type ResponseErrors, withExtendedErrors } from '../wire/extended-error.ts';
import type { Reply } from '../wire/query.ts';
import { type EdnsOption, RCODE, type ResourceRecord } from '../wire/types.ts';
import type { Answer, Denial } from './answer.ts';

const RCODE_OF = {
  refused: RCODE.REFUSED,
  servfail: RCODE.SERVFAIL,
  notimp: RCODE.NOTIMP,
  formerr: RCODE.FORMERR,
  overloaded: RCODE.REFUSED,
} as const;

/** @param sendsOwn whether the front end sends codes of our own */
function extendedErrorsOf(answer: Answer, sendsOwn: boolean): ResponseErrors {
  return {
    code: sendsOwn && 'extendedError' in answer ? answer.extendedError : undefined,
    passed: 'passedErrors' in answer ? answer.passedErrors : undefined,
  };
}

/**
 * A finished response with the extended errors of its answer, unless it has some already.
 *
 * @param options of its OPT record
 */
export function explainResponse(
  response: Uint8Array,
  limit: number,
  answer: Answer,
  { options, sendsOwn }: { readonly options: readonly EdnsOption[]; readonly sendsOwn: boolean },
): Uint8Array {
  if (options.some(isExtendedError)) return response;
  return withExtendedErrors(response, limit, extendedErrorsOf(answer, sendsOwn), options);
}

/** The contents of the response. Aliases that no handler has followed are sent as they are. */
export function replyOf(answer: Exclude<Answer, { kind: 'drop' }>): Reply {
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
