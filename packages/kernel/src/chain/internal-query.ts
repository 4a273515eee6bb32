/**
 * Queries of our own: for prefetching, and for names of upstream servers.
 */
import { OPCODE, type Question } from '@portolan/dns/types.ts';
import { Query, type QuerySite } from './query.ts';

const OURSELVES = { address: '', port: 0, transport: 'tcp' } as const;

/**
 * @param flags those that belong to the key of a cached answer
 * @param site where it counts; default: nowhere
 */
export function createInternalQuery(
  question: Question,
  flags: { readonly dnssecOk: boolean; readonly checkingDisabled: boolean },
  site?: QuerySite,
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
  return new Query(question, { header, question, edns }, OURSELVES, undefined, site);
}
