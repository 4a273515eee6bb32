/**
 * `--log-queries`: logs queries, clients and answers in dnsmasq's format.
 *
 *     query[A] www.example.com from 127.0.0.1
 *     forwarded www.example.com to 127.0.0.1#53
 *     reply www.example.com is 192.0.2.1
 *
 * With `=extra`, each line begins with the number of its query, and the client's address and port.
 *
 * Here are the lines of queries that the main thread answers. The query log writes them, with those of readers, in the order of time.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { decodeMessage, tryDecodeMessage } from '@portolan/dns/message.ts';
import type { AbsoluteName } from '@portolan/dns/types.ts';
import type { Client } from '@portolan/kernel/chain/query.ts';
import type { ObserveQuery } from '@portolan/server/chain-observer.ts';
import type { ObservingLog } from '@portolan/server/front-end.ts';
import {
  clientText,
  completeLine,
  describeQuery,
  describeResponse,
  formatName,
  toDnsmasqSource,
} from '@portolan/server/observe/query-events/dnsmasq-lines.ts';
import type { LineRules } from '@portolan/server/observe/query-events/event-lines.ts';

export interface DnsmasqQueryLogOptions extends Pick<ObservingLog, 'findHostsFile'> {
  readonly extent: 'plain' | 'extra';
}

/** The data shared by the lines of one query. */
interface NumberedQuery {
  readonly client: Pick<Client, 'address' | 'port'>;
  readonly number: number;
  /** Whether an upstream server was queried. */
  wasForwarded: boolean;
}

export class DnsmasqQueryLog implements ObservingLog {
  readonly lines: LineRules;
  readonly findHostsFile: ObservingLog['findHostsFile'];
  readonly #isNumbered: boolean;
  readonly #queries = new AsyncLocalStorage<NumberedQuery>();
  #note: (line: string, query: number) => void = () => {};
  #count = 0;

  constructor({ extent, findHostsFile }: DnsmasqQueryLogOptions) {
    this.#isNumbered = extent === 'extra';
    this.lines = { kind: 'dnsmasq', isNumbered: this.#isNumbered };
    this.findHostsFile = findHostsFile;
  }

  start(note: (line: string, query: number) => void): void {
    this.#note = note;
  }

  /** Logs a query that the main thread answers. */
  readonly observe: ObserveQuery = async (octets, client, answer) => {
    const question = tryDecodeMessage(octets)?.questions[0];
    if (question === undefined) return await answer();
    // A word of a note, which is not 0.
    this.#count = (this.#count % MAX_NUMBER) + 1;
    const query: NumberedQuery = { client, number: this.#count, wasForwarded: false };
    this.#add(query, describeQuery(question, client.address));
    const response = await this.#queries.run(query, answer);
    if (response === undefined) return undefined;
    const message = decodeMessage(response);
    const source = toDnsmasqSource(message, query.wasForwarded, false);
    for (const line of describeResponse(question, message, source))
      this.#add(query, completeLine(line, this.findHostsFile));
    return response;
  };

  /** Call this for the query being answered. @param server `127.0.0.1#53` */
  forwarded(name: AbsoluteName, server: string): void {
    const query = this.#queries.getStore();
    if (query === undefined) return;
    query.wasForwarded = true;
    this.#add(query, `forwarded ${formatName(name)} to ${server}`);
  }

  #add({ client, number }: NumberedQuery, line: string): void {
    this.#note(this.#isNumbered ? `${clientText(client)} ${line}` : line, number);
  }
}

const MAX_NUMBER = 2 ** 32 - 1;
