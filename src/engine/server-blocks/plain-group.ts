/**
 * The only block of our own front ends, for its listeners. It answers all names, in our own form of responses.
 */
import type { Log } from '../../base/log.ts';
import { createHandleQuery, type HandleQuery } from '../../chain/handle-query.ts';
import type { Chain } from '../../chain/handler.ts';
import type { Client } from '../../chain/query.ts';
import { ROOT } from '../../wire/name.ts';
import { type CountingOptions, countAnswers } from './answer-counts.ts';

export interface PlainGroupOptions {
  readonly chain: Chain;
  readonly recursionAvailable: boolean;
  readonly udpSize: number;
  readonly sendsExtendedErrors: boolean | undefined;
  readonly counting: CountingOptions;
  /** Whether a client gets an answer. */
  readonly admits: (client: Pick<Client, 'address'>) => boolean;
  readonly log: Log;
}

export class PlainGroup {
  readonly handleQuery: HandleQuery;
  readonly #chain: Chain;

  constructor({ chain, counting, admits, ...options }: PlainGroupOptions) {
    this.#chain = chain;
    const uncounted = createHandleQuery(chain, options);
    const counted = countAnswers(uncounted, counting);
    this.handleQuery = async (packet, client) => {
      if (!admits(client)) return undefined;
      client.look?.choseBlock(ROOT);
      return await (client.look === undefined ? counted : uncounted)(packet, client);
    };
  }

  chainFor(): Chain {
    return this.#chain;
  }
}
