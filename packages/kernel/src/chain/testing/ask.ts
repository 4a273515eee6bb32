/**
 * Asks a DNS server one question over UDP or TCP, in our own wire form, and reads the whole answer.
 */
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Message, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { QUERY_HEADER } from './queries.ts';

export interface Server {
  readonly address: string;
  readonly port: number;
}

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
  server: Server,
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
export function exchange(
  server: Server,
  query: Message,
  { transport = 'udp', deadline = 15_000, from }: AskOptions = {},
): Promise<Uint8Array> {
  const [question] = query.questions;
  const what = question === undefined ? 'no question' : `${question.name} ${typeName(question.type)}`;
  const by = transport === 'udp' ? exchangeByUdp : exchangeByTcp;
  return by(server, encodeMessage(query), { deadline, from }, what);
}

/** The answer in short: its addresses or targets, sorted; without records, the response code. */
export async function askShort(
  server: Server,
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

type ExchangeOptions = Required<Pick<AskOptions, 'deadline'>> & { readonly from: string | undefined };

function exchangeByUdp(
  server: Server,
  query: Uint8Array,
  { deadline, from }: ExchangeOptions,
  what: string,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(server.address.includes(':') ? 'udp6' : 'udp4');
    const end = (settle: () => void) => {
      clearTimeout(timer);
      socket.close();
      settle();
    };
    const timer = setTimeout(() => end(() => reject(new Error(`no answer by UDP: ${what}`))), deadline);
    socket.on('message', (message) => end(() => resolve(message)));
    // A connected socket learns that no server listens.
    socket.on('error', (error) => end(() => reject(error)));
    socket.bind({ ...(from !== undefined && { address: from }) }, () =>
      socket.connect(server.port, server.address, () => socket.send(query)),
    );
  });
}

function exchangeByTcp(
  server: Server,
  query: Uint8Array,
  { deadline, from }: ExchangeOptions,
  what: string,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const { address: host, port } = server;
    const socket = connect({ host, port, ...(from !== undefined && { localAddress: from }) });
    let received = Buffer.alloc(0);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      settle();
    };
    const timer = setTimeout(() => end(() => reject(new Error(`no answer by TCP: ${what}`))), deadline);
    socket.on('connect', () =>
      socket.write(Buffer.concat([Buffer.from([query.length >> 8, query.length]), query])),
    );
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const length = received.length < 2 ? Number.POSITIVE_INFINITY : received.readUInt16BE(0) + 2;
      if (received.length >= length) end(() => resolve(received.subarray(2, length)));
    });
    socket.on('error', (error) => end(() => reject(error)));
    socket.on('close', () => end(() => reject(new Error(`closed without an answer: ${what}`))));
  });
}
