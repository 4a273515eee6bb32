/**
 * Asks a DNS server one question over UDP or TCP, in our own wire form, and reads the whole answer.
 */
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Message, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { DnsClient, type DnsServer } from './dns-client.ts';

export interface AskOptions {
  readonly transport?: 'udp' | 'tcp';
  /** Milliseconds to wait for an answer. Default: 15,000, as a busy machine may be slow. */
  readonly deadline?: number;
  /** An address of this machine to ask from. */
  readonly from?: string;
}

let lastId = 0;

export function makeQuery(name: string, type: keyof typeof TYPE): Message {
  lastId = (lastId + 1) % 0x10000;
  return {
    header: { ...QUERY_HEADER, id: lastId },
    questions: [{ name: parseName(name), type: TYPE[type], class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
    edns: undefined,
  };
}

/** The answer; rejects if it does not come in time, or is not for our question. */
export async function ask(
  server: DnsServer,
  name: string,
  type: keyof typeof TYPE,
  options?: AskOptions,
): Promise<Message> {
  const query = makeQuery(name, type);
  const answer = decodeMessage(await exchange(server, query, options));
  if (answer.header.id !== query.header.id || !answer.header.response)
    throw new Error(`not an answer to our question: ${name} ${type}`);
  return answer;
}

/** The octets of the answer to a query; rejects if it does not come in time. */
export async function exchange(
  server: DnsServer,
  query: Message,
  { transport = 'udp', deadline = 15_000, from }: AskOptions = {},
): Promise<Uint8Array> {
  const [question] = query.questions;
  const what = question === undefined ? 'no question' : `${question.name} ${typeName(question.type)}`;
  const open = transport === 'udp' ? DnsClient.openUdp : DnsClient.openTcp;
  const client = await open({ server, from, deadline });
  try {
    return (await client.exchange(encodeMessage(query), { deadline, what })).message;
  } finally {
    void client.close();
  }
}

/** The answer in short: its addresses or targets, sorted; without records, the response code. */
export async function askShort(
  server: DnsServer,
  name: string,
  type: keyof typeof TYPE,
  options?: AskOptions,
): Promise<string> {
  const { answers, header } = await ask(server, name, type, options);
  if (answers.length > 0) return answers.map(shortData).sort().join(' ');
  return header.rcode === 0 ? 'NODATA' : rcodeName(header.rcode);
}

function shortData({ data }: ResourceRecord): string {
  if ('address' in data) return data.address;
  if (data.kind === 'SRV') return `${data.port} ${data.target}`;
  return 'target' in data ? data.target : data.kind;
}
