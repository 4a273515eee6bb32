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
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { RateLimitedWarnings } from '../../base/rate-limited-warning.ts';
import type { Client } from '../../chain/query.ts';
import { type QueryEvent, QueryEventReader } from '../../listen/query-events/event-reader.ts';
import { EVENT_MODE } from '../../listen/query-events/event-ring.ts';
import type { QueryEventRings } from '../../listen/query-events/event-rings.ts';
import {
  describeQuery,
  describeResponse,
  type FileOf,
  sourceOf,
  textOf,
} from '../../observe/query-events/dnsmasq-lines.ts';
import { EventLog } from '../../observe/query-events/event-log.ts';
import { formatAddress } from '../../wire/address.ts';
import { decodeMessage } from '../../wire/message.ts';
import type { AbsoluteName, Question } from '../../wire/types.ts';
import { WireError } from '../../wire/wire-error.ts';
import type { ObservingLog } from '../front-end.ts';
import type { ObserveQuery } from '../observed-queries.ts';

export interface DnsmasqQueryLogOptions {
  readonly extent: 'plain' | 'extra';
  readonly fileOf: FileOf;
  readonly clock: Clock;
  readonly log: Log;
}

/** The data shared by the lines of one query. */
interface NumberedQuery {
  readonly client: Pick<Client, 'address' | 'port'>;
  /** In order of arrival; 0 until the first line is written. */
  number: number;
  /** Whether an upstream server was queried. */
  wasForwarded: boolean;
}

/** Lines of one query that were logged at the same time. */
interface Entry {
  readonly time: number;
  readonly query: NumberedQuery;
  readonly lines: () => readonly string[];
}

export class DnsmasqQueryLog implements ObservingLog {
  readonly #options: DnsmasqQueryLogOptions;
  readonly #queries = new AsyncLocalStorage<NumberedQuery>();
  readonly #events: EventLog<Entry>;
  #rings: QueryEventRings | undefined;
  #count = 0;

  constructor(options: DnsmasqQueryLogOptions) {
    const { clock, log } = options;
    const warnings = new RateLimitedWarnings(log, clock);
    this.#options = options;
    this.#events = new EventLog({
      clock,
      timeOf: ({ time }) => time,
      write: (entries) => this.#write(entries),
      dropped: (_, dropped) =>
        warnings.warn('query log incomplete: more queries than lines can be written', { dropped }),
    });
  }

  /** Starts to log answers of readers too. @param rings of the server; this log must be the only consumer */
  start(rings: QueryEventRings): void {
    this.#rings = rings;
    this.#events.follow({
      readers: rings.all.map((memory) => new QueryEventReader(memory)),
      // `observe` logs the answers of the main thread.
      entryOf: (event) => (event.source === 'table' ? this.#entryOf(event) : undefined),
    });
    rings.setMode(EVENT_MODE.RESPONSES);
    this.#events.start();
  }

  /** Writes the remaining lines. */
  stop(): void {
    this.#events.rest();
    this.#rings?.setMode(EVENT_MODE.OFF);
    this.#events.writeAll();
  }

  /** Logs a query that the main thread answers. */
  readonly observe: ObserveQuery = async (octets, client, answer) => {
    const question = readQuestion(octets);
    if (question === undefined) return await answer();
    const query: NumberedQuery = { client, number: 0, wasForwarded: false };
    this.#add(query, () => [describeQuery(question, client.address)]);
    const response = await this.#queries.run(query, answer);
    if (response !== undefined)
      this.#add(query, () => this.#describeAnswer(question, response, query.wasForwarded, false));
    return response;
  };

  /** Call this for the query being answered. @param server `127.0.0.1#53` */
  forwarded(name: AbsoluteName, server: string): void {
    const query = this.#queries.getStore();
    if (query === undefined) return;
    query.wasForwarded = true;
    this.#add(query, () => [`forwarded ${textOf(name)} to ${server}`]);
  }

  #add(query: NumberedQuery, lines: () => readonly string[]): void {
    this.#events.add({ time: this.#events.now(), query, lines });
  }

  #entryOf({ received, client, clientPort, response }: QueryEvent): Entry {
    const address = formatAddress(client);
    return {
      time: received,
      query: { client: { address, port: clientPort }, number: 0, wasForwarded: false },
      lines: () => {
        const question = readQuestion(response);
        if (question === undefined) return [];
        return [describeQuery(question, address), ...this.#describeAnswer(question, response, false, true)];
      },
    };
  }

  #write(entries: readonly Entry[]): void {
    for (const { query, lines } of entries) {
      if (query.number === 0) query.number = ++this.#count;
      const { client, number } = query;
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

function readQuestion(query: Uint8Array): Question | undefined {
  try {
    return decodeMessage(query).questions[0];
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
