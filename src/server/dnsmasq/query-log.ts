/**
 * `--log-queries`: logs queries, clients and answers in dnsmasq's format.
 *
 *     query[A] www.example.com from 127.0.0.1
 *     forwarded www.example.com to 127.0.0.1#53
 *     reply www.example.com is 192.0.2.1
 *
 * With `=extra`, each line begins with the number of its query, and the client's address and port.
 *
 * Readers answer from the table themselves and write an event per answer; these events are read here every few milliseconds. The main
 * thread observes its own queries directly. Lines of both are written in time order.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { RateLimitedWarnings } from '../../base/rate-limited-warning.ts';
import type { Client } from '../../chain/query.ts';
import { type QueryEvent, QueryEventReader } from '../../listen/query-events/event-reader.ts';
import { EVENT_MODE, sharedMonotonic } from '../../listen/query-events/event-ring.ts';
import type { QueryEventRings } from '../../listen/query-events/event-rings.ts';
import { EventOrder, ORDER_WINDOW } from '../../observe/query-events/event-order.ts';
import { addressOfReverseName, formatAddress } from '../../wire/address.ts';
import { decodeMessage } from '../../wire/message.ts';
import { rcodeName, typeName } from '../../wire/mnemonics.ts';
import { toKey } from '../../wire/name.ts';
import { typeOfData } from '../../wire/record-data.ts';
import {
  type AbsoluteName,
  type Message,
  type Question,
  RCODE,
  type ResourceRecord,
  TYPE,
} from '../../wire/types.ts';
import { WireError } from '../../wire/wire-error.ts';
import type { ObservingLog } from '../front-end.ts';
import type { ObserveQuery } from '../observed-queries.ts';

/** The source of an answer; `config` includes hosts files. */
type Source = 'reply' | 'cached' | 'config';

/** The hosts file of a local record; undefined if an option defines it. */
export type FileOf = (record: ResourceRecord) => string | undefined;

export interface QueryLogOptions {
  readonly extent: 'plain' | 'extra';
  readonly fileOf: FileOf;
  readonly clock: Clock;
  readonly log: Log;
}

/** The data shared by the lines of one query. */
interface Ticket {
  readonly client: Pick<Client, 'address' | 'port'>;
  /** In order of arrival; 0 until the first line is written. */
  number: number;
  /** Whether an upstream server was queried. */
  wasForwarded: boolean;
}

/** Lines of one query that were logged at the same time. */
interface Entry {
  readonly time: number;
  readonly ticket: Ticket;
  readonly lines: () => readonly string[];
}

/** The most events of a ring to log before the main thread does other work. */
const EVENTS_PER_TURN = 200;

export class QueryLog implements ObservingLog {
  readonly #options: QueryLogOptions;
  readonly #tickets = new AsyncLocalStorage<Ticket>();
  readonly #order = new EventOrder<Entry>(({ time }) => time);
  readonly #monotonic = sharedMonotonic();
  readonly #warnings: RateLimitedWarnings;
  #rings: QueryEventRings | undefined;
  #readers: readonly QueryEventReader[] = [];
  #timer: Timer | undefined;
  /** Whether more events are waiting than fit into a turn. */
  #isBehind = false;
  #dropped = 0;
  #count = 0;

  constructor(options: QueryLogOptions) {
    this.#options = options;
    this.#warnings = new RateLimitedWarnings(options.log, options.clock);
  }

  /** Starts to log answers of readers too. @param rings of the server; this log must be the only consumer */
  start(rings: QueryEventRings): void {
    this.#rings = rings;
    this.#readers = rings.all.map((memory) => new QueryEventReader(memory));
    rings.setMode(EVENT_MODE.RESPONSES);
    this.#pollLater();
  }

  /** Writes the remaining lines. */
  stop(): void {
    this.#timer?.cancel();
    this.#rings?.setMode(EVENT_MODE.OFF);
    this.#drain();
    this.#write(this.#order.releaseAll());
  }

  /** Logs a query that the main thread answers. */
  readonly observe: ObserveQuery = async (query, client, answer) => {
    const question = readQuestion(query);
    if (question === undefined) return await answer();
    const ticket: Ticket = { client, number: 0, wasForwarded: false };
    this.#add(ticket, () => [describeQuery(question, client.address)]);
    const response = await this.#tickets.run(ticket, answer);
    if (response !== undefined)
      this.#add(ticket, () => this.#describeAnswer(question, response, ticket.wasForwarded, false));
    return response;
  };

  /** Call this for the query being answered. @param server `127.0.0.1#53` */
  forwarded(name: AbsoluteName, server: string): void {
    const ticket = this.#tickets.getStore();
    if (ticket === undefined) return;
    ticket.wasForwarded = true;
    this.#add(ticket, () => [`forwarded ${textOf(name)} to ${server}`]);
  }

  #add(ticket: Ticket, lines: () => readonly string[]): void {
    this.#order.add({ time: this.#monotonic(), ticket, lines });
  }

  #pollLater(): void {
    this.#timer = this.#options.clock.after(this.#isBehind ? 0 : ORDER_WINDOW, () => {
      this.#isBehind = this.#drain(EVENTS_PER_TURN);
      this.#write(this.#order.release(this.#monotonic()));
      this.#reportDrops();
      this.#pollLater();
    });
  }

  /** Warns of lost lines. */
  #reportDrops(): void {
    const dropped = this.#readers.reduce((sum, reader) => sum + reader.dropped, 0);
    if (dropped === this.#dropped) return;
    this.#dropped = dropped;
    this.#warnings.warn('query log incomplete: more queries than lines can be written', { dropped });
  }

  /** Skips answers of the main thread, which `observe` logs. @returns whether there is more */
  #drain(max?: number): boolean {
    const take = (event: QueryEvent) => {
      if (event.source === 'table') this.#addEvent(event);
    };
    return this.#readers.filter((reader) => reader.drain(take, undefined, max)).length > 0;
  }

  #addEvent({ received, client, clientPort, response }: QueryEvent): void {
    const address = formatAddress(client);
    const ticket: Ticket = { client: { address, port: clientPort }, number: 0, wasForwarded: false };
    this.#order.add({
      time: received,
      ticket,
      lines: () => {
        const question = readQuestion(response);
        if (question === undefined) return [];
        return [describeQuery(question, address), ...this.#describeAnswer(question, response, false, true)];
      },
    });
  }

  #write(entries: readonly Entry[]): void {
    for (const { ticket, lines } of entries) {
      if (ticket.number === 0) ticket.number = ++this.#count;
      const { client, number } = ticket;
      const prefix = this.#options.extent === 'extra' ? `${number} ${client.address}/${client.port} ` : '';
      for (const line of lines()) this.#options.log.info(`${prefix}${line}`);
    }
  }

  #describeAnswer(
    question: Question,
    response: Uint8Array,
    wasForwarded: boolean,
    isKnown: boolean,
  ): readonly string[] {
    const message = decodeMessage(response);
    const source = sourceOf(message, wasForwarded, isKnown);
    return describeResponse(question, message, source, this.#options.fileOf);
  }
}

function describeQuery({ name, type }: Question, client: string): string {
  return `query[${typeName(type)}] ${textOf(name)} from ${client}`;
}

/** Local answers have the AA bit. Upstream answers never do, even if an earlier query fetched them. */
function sourceOf({ header, answers }: Message, wasForwarded: boolean, isKnown: boolean): Source {
  const isOfOthers = !header.authoritative && answers.length > 0;
  if (wasForwarded || (isOfOthers && !isKnown)) return 'reply';
  return isKnown && !header.authoritative ? 'cached' : 'config';
}

/** The source and the answer: `cached www.example.com is 192.0.2.1`. */
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
  // As in dnsmasq, only the text of upstream TXT records is shown.
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
