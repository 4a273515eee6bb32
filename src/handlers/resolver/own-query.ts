/**
 * Queries that nobody sent but ourselves.
 */
import { Query } from '../../chain/query.ts';
import { OPCODE, type Question } from '../../wire/types.ts';

const OURSELVES = { address: '', port: 0, transport: 'tcp' } as const;

/** @param flags what keeps answers to equal questions apart */
export function createOwnQuery(
  question: Question,
  flags: { readonly dnssecOk: boolean; readonly checkingDisabled: boolean },
): Query {
  const { dnssecOk, checkingDisabled } = flags;
  const header = {
    id: 0,
    response: false,
    opcode: OPCODE.QUERY,
    rcode: 0,
    authoritative: false,
    truncated: false,
    authenticData: false,
    recursionAvailable: false,
    recursionDesired: true,
    checkingDisabled,
  };
  const edns = { version: 0, udpSize: 1232, dnssecOk, extendedRcode: 0, options: [] };
  return new Query(question, { header, question, edns }, OURSELVES);
}
