/**
 * The question of a query that a client sent to another server, as it stood in a packet.
 */
import { parseQuery } from '@portolan/dns/query.ts';
import { type AskedQuestion, isComparable } from '../compare/asked-question.ts';

/** @returns undefined if the octets are no query that has one answer: a response, an update, a zone transfer, other data */
export function questionOfPacket(octets: Uint8Array): AskedQuestion | undefined {
  // A copy: the view of a capture is valid for a moment only.
  const query = parseQuery(Uint8Array.from(octets));
  if (query.kind !== 'query' || !isComparable(query.question)) return undefined;
  const { header, question, edns } = query;
  const { recursionDesired, authenticData, checkingDisabled } = header;
  return {
    ...question,
    recursionDesired,
    authenticData,
    checkingDisabled,
    edns: edns && { udpSize: edns.udpSize, dnssecOk: edns.dnssecOk },
  };
}
