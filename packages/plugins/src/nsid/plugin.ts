/**
 * `nsid`: identifies the server to clients that ask for it (RFC 5001).
 */
import { hostname } from 'node:os';
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { EdnsOption } from '@portolan/dns/types.ts';
import type { Answer, OwnEdns } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import type { Questions } from '@portolan/kernel/chain/match.ts';
import { isResponse, toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';

export interface NsidOptions {
  /** Undefined: the name of the host. */
  readonly data: string | undefined;
}

/** `nsid [DATA]`. Source: plugin/nsid of CoreDNS 1.14.7. */
export const nsid = definePlugin({
  name: 'nsid',
  syntax: ['nsid [DATA]'],
  read(cursor): NsidOptions {
    let data: string | undefined;
    cursor.onlyUse(() => {
      const words = cursor.remainingArguments();
      if (words.length > 0) data = words.join(' ');
    });
    return { data };
  },
  create: (options) => ({ handler: createNsidHandler(options, hostname()) }),
});

const NSID = 3;

/** @param hostName used if the options have no data */
export function createNsidHandler({ data = '' }: NsidOptions, hostName: string): Handler {
  const own: EdnsOption = { code: NSID, data: Buffer.from(data === '' ? hostName : data) };
  return {
    name: 'nsid',
    role: 'other',
    answers: 'unchanged',
    questions: QUESTIONS,
    async handle(query, next) {
      const { edns } = query;
      if (edns === undefined || !edns.options.some(({ code }) => code === NSID)) return await next(query);
      query.forbidStoring();
      return identify(await next(query), own, edns.udpSize);
    },
  };
}

/** Only queries with the option, which no `includes` can see: they are never forwarded as packets. */
const QUESTIONS: Questions = {
  includes: () => false,
  matches: () => [{ name: { kind: 'any' }, types: 'all', ednsOptions: new Set([NSID]) }],
};

/** A response without an OPT record of its own gets one, with DO set, as in CoreDNS. */
function identify(answer: Answer, own: EdnsOption, udpSize: number): Answer {
  if (answer.kind === 'drop' || !isResponse(answer)) return answer;
  const whole = toWholeAnswer(answer);
  const edns: OwnEdns = whole.edns ?? { udpSize, dnssecOk: true, options: [] };
  const options = [...edns.options.filter(({ code }) => code !== NSID), own];
  return { ...whole, edns: { ...edns, options } };
}
