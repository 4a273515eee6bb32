/**
 * `--log-queries`: what is asked, by whom, and what comes of it, in dnsmasq's words.
 *
 *     query[A] www.example.com from 127.0.0.1
 *     forwarded www.example.com to 127.0.0.1#53
 *     reply www.example.com is 192.0.2.1
 *
 * With `=extra` every line begins with a number that its question has, and with the client's address and port.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from '../../ground/log.ts';
import type { Client } from '../../listen/types.ts';
import { addressOfReverseName } from '../../wire/address.ts';
import { typeOfData } from '../../wire/data/record-data.ts';
import { decodeMessage } from '../../wire/message.ts';
import { rcodeName, typeName } from '../../wire/mnemonics.ts';
import { toKey } from '../../wire/name.ts';
import {
  type AbsoluteName,
  type Message,
  type Question,
  RCODE,
  type ResourceRecord,
  TYPE,
} from '../../wire/types.ts';
import { WireError } from '../../wire/wire-error.ts';
import type { Watched, Watcher } from './watched-answers.ts';

/** Where an answer comes from; `config` may be a hosts file too. */
type Source = 'reply' | 'cached' | 'config';

/** The hosts file that a record of ours is from; nothing for one of an option. */
export type FileOf = (record: ResourceRecord) => string | undefined;

/** What the lines of one question have in common. */
interface Ticket {
  readonly prefix: string;
  /** Whether somebody upstream was asked. */
  wasForwarded: boolean;
}

export class QueryLog implements Watcher {
  readonly #fileOf: FileOf;
  readonly #log: Log;
  readonly #isExtra: boolean;
  readonly #tickets = new AsyncLocalStorage<Ticket>();
  #count = 0;

  constructor(extent: 'plain' | 'extra', fileOf: FileOf, log: Log) {
    this.#fileOf = fileOf;
    this.#log = log;
    this.#isExtra = extent === 'extra';
  }

  async observe(query: Uint8Array, client: Client, answer: () => Promise<Watched>): Promise<Watched> {
    const question = readQuestion(query);
    if (question === undefined) return await answer();
    this.#count += 1;
    const prefix = this.#isExtra ? `${this.#count} ${client.address}/${client.port} ` : '';
    const ticket: Ticket = { prefix, wasForwarded: false };
    this.#log.info(
      `${prefix}query[${typeName(question.type)}] ${textOf(question.name)} from ${client.address}`,
    );
    const watched = await this.#tickets.run(ticket, answer);
    const { response, isKnown } = watched;
    if (response !== undefined) this.#logResponse(ticket, question, response, isKnown);
    return watched;
  }

  /** To be called for the question that is answered at the moment. @param server `127.0.0.1#53` */
  forwarded(name: AbsoluteName, server: string): void {
    const ticket = this.#tickets.getStore();
    if (ticket === undefined) return;
    ticket.wasForwarded = true;
    this.#log.info(`${ticket.prefix}forwarded ${textOf(name)} to ${server}`);
  }

  #logResponse(ticket: Ticket, question: Question, response: Uint8Array, isKnown: boolean): void {
    const message = decodeMessage(response);
    const source = sourceOf(ticket, message, isKnown);
    for (const text of describeResponse(question, message, source, this.#fileOf))
      this.#log.info(`${ticket.prefix}${text}`);
  }
}

/** Names of our own carry the AA bit; what others said never does, also where another question had it asked for. */
function sourceOf({ wasForwarded }: Ticket, { header, answers }: Message, isKnown: boolean): Source {
  const isOfOthers = !header.authoritative && answers.length > 0;
  if (wasForwarded || (isOfOthers && !isKnown)) return 'reply';
  return isKnown && !header.authoritative ? 'cached' : 'config';
}

/** The source and what came from there: `cached www.example.com is 192.0.2.1`. */
export function describeResponse(
  question: Question,
  message: Message,
  source: Source,
  fileOf: FileOf,
): readonly string[] {
  const { answers } = message;
  if (answers.length === 0) return [`${source} ${describeAbsence(question, message)}`];
  return answers.flatMap((record) => {
    const from = source === 'config' ? (fileOf(record) ?? source) : source;
    return describeRecord(record, source).map((text) => `${from} ${text}`);
  });
}

function describeAbsence(question: Question, { header }: Message): string {
  const name = textOf(question.name);
  if (header.rcode === RCODE.NXDOMAIN) return `${name} is NXDOMAIN`;
  if (header.rcode !== RCODE.NOERROR) return `error is ${rcodeName(header.rcode)}`;
  const family = question.type === TYPE.A ? '-IPv4' : question.type === TYPE.AAAA ? '-IPv6' : '';
  return `${name} is NODATA${family}`;
}

function describeRecord({ name, data }: ResourceRecord, source: Source): readonly string[] {
  if (data.kind === 'A' || data.kind === 'AAAA') return [`${textOf(name)} is ${data.address}`];
  // Texts of others are shown, our own are known.
  if (data.kind === 'TXT' && source === 'reply')
    return data.strings.map((text) => `${textOf(name)} is ${Buffer.from(text).toString('latin1')}`);
  if (data.kind === 'PTR')
    return [`${addressOfReverseName(toKey(name)) ?? textOf(name)} is ${textOf(data.target)}`];
  return [`${textOf(name)} is <${typeName(typeOfData(data))}>`];
}

function textOf(name: AbsoluteName): string {
  return name === '.' ? '.' : name.slice(0, -1);
}

function readQuestion(query: Uint8Array): Question | undefined {
  try {
    return decodeMessage(query).questions[0];
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
