/**
 * An upstream server on loopback that knows a few names, and denies all others.
 */
import { encodeMessage } from '@portolan/dns/message.ts';
import { typeName } from '@portolan/dns/mnemonics.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentData, typeOfData } from '@portolan/dns/record-data.ts';
import {
  CLASS,
  type Message,
  RCODE,
  type RecordData,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';

/** By `name type`, both as they are written: `www.example. A`. */
export type Names = Readonly<Record<string, readonly RecordData[]>>;

export const address = (text: string): RecordData => ({
  kind: text.includes(':') ? 'AAAA' : 'A',
  address: text,
});
export const target = (kind: 'CNAME' | 'PTR', name: string): RecordData => ({
  kind,
  target: parseName(name),
});

const TTL = 300;

export class ZoneUpstream {
  names: Names;
  readonly server: LoopbackUpstream;

  private constructor(server: LoopbackUpstream, names: Names) {
    this.server = server;
    this.names = names;
    server.react = ({ query, over, send }) => {
      const reply = encodeMessage(this.#answer(query), over === 'udp' ? { limit: 512 } : {});
      send(reply);
    };
  }

  static async start(names: Names): Promise<ZoneUpstream> {
    return new ZoneUpstream(await LoopbackUpstream.start(() => {}), names);
  }

  get address(): string {
    return this.server.address;
  }

  /** What it was asked, as `name type`, without the forwarder's own probes. */
  get asked(): readonly string[] {
    return this.server.queries
      .map(({ query }) => formatQuestion(query))
      .filter((text) => !/^[0-9a-f]{32}\./.test(text));
  }

  async stop(): Promise<void> {
    await this.server.stop();
  }

  #answer(query: Message): Message {
    const [question] = query.questions;
    if (question === undefined) throw new Error('a query without a question');
    const answers: ResourceRecord[] = [];
    let at = toKey(question.name);
    for (
      let alias = this.#find(at, TYPE.CNAME)[0];
      alias?.data.kind === 'CNAME';
      alias = this.#find(at, TYPE.CNAME)[0]
    ) {
      answers.push(alias);
      at = toKey(alias.data.target);
    }
    answers.push(...this.#find(at, question.type));
    const exists = Object.keys(this.names).some((name) => name.startsWith(`${at} `));
    const rcode = exists ? RCODE.NOERROR : RCODE.NXDOMAIN;
    const name = parseName('example.');
    const numbers = { serial: 1, refresh: 2, retry: 3, expire: 4, minimum: TTL };
    const soa = { kind: 'SOA', primary: name, mailbox: name, ...numbers } as const;
    const header = { ...query.header, response: true, recursionAvailable: true, rcode };
    const isAnswered = answers.some(({ data }) => typeOfData(data) === question.type);
    const authorities = isAnswered ? [] : [{ name, class: CLASS.IN, ttl: TTL, data: soa }];
    return { ...query, header, answers, authorities };
  }

  #find(name: string, type: number): readonly ResourceRecord[] {
    const data = this.names[`${name} ${typeName(type)}`] ?? [];
    return data.map((each) => ({ name: parseName(name), class: CLASS.IN, ttl: TTL, data: each }));
  }
}

function formatQuestion({ questions: [question] }: Message): string {
  return question === undefined ? '' : `${question.name.toLowerCase()} ${typeName(question.type)}`;
}

/** The answers of a message as `name type data`, in their order. */
export function formatAnswers({ answers }: Message): readonly string[] {
  return answers.map(({ name, data }) => `${name} ${typeName(typeOfData(data))} ${presentData(data)}`);
}
