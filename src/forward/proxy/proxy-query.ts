/**
 * A client's query as a proxy forwards it: flags, question (with its capitals), and EDNS are unchanged.
 */
import { HEADER_OCTETS } from '../../wire/header.ts';
import { encodeMessage } from '../../wire/message.ts';
import { encodeName } from '../../wire/name.ts';
import type { Edns, Header, Question, ResourceRecord } from '../../wire/types.ts';
import type { QueryMessage } from '../transport/query-message.ts';

/** The parts of a query that are forwarded. */
export interface ProxyQuestion {
  readonly question: Question;
  readonly header: Header;
  readonly edns: Edns | undefined;
  /** Default: none. */
  readonly answers?: readonly ResourceRecord[];
}

const MIN_UDP_SIZE = 512;

export function writeProxyQuery({ question, header, edns, answers = [] }: ProxyQuestion): QueryMessage {
  const octets = encodeMessage({
    header: { ...header, id: 0 },
    questions: [question],
    answers,
    authorities: [],
    additionals: [],
    edns,
  });
  const questionEnd = HEADER_OCTETS + encodeName(question.name).length + 4;
  return { octets, questionEnd, hasEdns: edns !== undefined };
}

/** The UDP size of the client in octets. */
export function udpReplyOctets({ edns }: ProxyQuestion): number {
  return Math.max(edns?.udpSize ?? 0, MIN_UDP_SIZE);
}
