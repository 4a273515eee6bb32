/**
 * Looks names up through ourselves: the addresses of upstream servers that are given by name.
 */
import type { ResolvedName } from '../../forward/named-servers.ts';
import type { AnswerSlowly } from '../../listen/types.ts';
import { decodeMessage, encodeMessage } from '../../wire/message.ts';
import {
  type AbsoluteName,
  CLASS,
  type Message,
  OPCODE,
  type ResourceRecord,
  TYPE,
} from '../../wire/types.ts';

const OURSELVES = { address: '', port: 0, transport: 'tcp' } as const;

/** The addresses of both families; the TTL is the least of all. */
export async function resolveNameBy(answer: AnswerSlowly, name: AbsoluteName): Promise<ResolvedName> {
  const found = await Promise.all([TYPE.A, TYPE.AAAA].map((type) => ask(answer, name, type)));
  const records = found.flat();
  const addresses = records.flatMap(({ data }) =>
    data.kind === 'A' || data.kind === 'AAAA' ? [data.address] : [],
  );
  return { addresses, ttl: Math.min(...records.map(({ ttl }) => ttl), 3600) };
}

async function ask(
  answer: AnswerSlowly,
  name: AbsoluteName,
  type: number,
): Promise<readonly ResourceRecord[]> {
  const query: Message = {
    header: {
      ...{ id: 0, response: false, opcode: OPCODE.QUERY, authoritative: false, truncated: false },
      ...{ recursionDesired: true, recursionAvailable: false, authenticData: false },
      ...{ checkingDisabled: false, rcode: 0 },
    },
    questions: [{ name, type, class: CLASS.IN }],
    ...{ answers: [], authorities: [], additionals: [], edns: undefined },
  };
  const response = await answer(encodeMessage(query), OURSELVES);
  return response === undefined ? [] : decodeMessage(response).answers;
}
