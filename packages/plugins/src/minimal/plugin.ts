/**
 * `minimal`: removes the authority and additional sections from positive answers. Source: plugin/minimal of CoreDNS 1.14.7.
 */
import {
  type Answer,
  anyName,
  definePlugin,
  type Handler,
  isResponse,
  type ResourceRecord,
  readBareUse,
  TYPE,
  toWhole,
  type WholeAnswer,
} from '@portolan/plugin';

export const minimal = definePlugin({
  name: 'minimal',
  syntax: ['minimal'],
  examples: ['minimal'],
  read(cursor): undefined {
    cursor.firstUse(() => readBareUse(cursor));
  },
  create: () => ({ handler: createMinimalHandler() }),
});

export function createMinimalHandler(): Handler {
  return {
    name: 'minimal',
    role: 'other',
    questions: WITH_ADDITIONALS,
    answers: 'chain',
    dropsOpt: true,
    async handle(query, next) {
      const answer = await next(query);
      const { type } = query.question;
      if (type === TYPE.AXFR || type === TYPE.IXFR) return answer;
      return minimize(answer);
    },
  };
}

/** The types of names in the table whose answers may have further sections. Replies that readers forward have none. */
const WITH_ADDITIONALS = anyName(new Set([TYPE.NS, TYPE.MX, TYPE.SRV]));

function minimize(answer: Answer): Answer {
  if (answer.kind === 'drop' || !isResponse(answer)) return answer;
  const { edns: _, ...whole } = toWhole(answer);
  return isPositive(whole) ? { ...whole, authorities: [], additionals: [] } : answer;
}

/** Whether it is not a denial, an error or a delegation. */
function isPositive({ rcode, answers, authorities }: WholeAnswer): boolean {
  if (rcode !== 0) return false;
  return answers.length > 0 || !authorities.some(isOfDenialOrDelegation);
}

function isOfDenialOrDelegation({ data }: ResourceRecord): boolean {
  return data.kind === 'SOA' || data.kind === 'NS';
}
