/**
 * Which messages of clients are queries, before anything else of them is read.
 */
import { HEADER_OCTETS, uint16At } from '@portolan/dns/header.ts';
import { OPCODE } from '@portolan/dns/types.ts';

const OPCODE_MASK = 15;
const RESPONSE_BIT = 0x80;

/** Whether the header is that of a query with one question, and few further records: a second one of each kind makes it no query. */
export function isQuery(message: Uint8Array): boolean {
  if (message.length < HEADER_OCTETS) return false;
  const octet = message[2] ?? 0;
  const opcode = (octet >> 3) & OPCODE_MASK;
  const [questions, answers, authorities, additionals] = [4, 6, 8, 10].map((at) => uint16At(message, at));
  return (
    (octet & RESPONSE_BIT) === 0 &&
    (opcode === OPCODE.QUERY || opcode === OPCODE.NOTIFY) &&
    questions === 1 &&
    (answers ?? 0) <= 1 &&
    (authorities ?? 0) <= 1 &&
    (additionals ?? 0) <= 2
  );
}
