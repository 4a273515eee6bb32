/**
 * The only block of our own front ends, for its listeners. It answers all names, in our own form of responses.
 */
import type { Log } from '../../base/log.ts';
import { createHandleQuery } from '../../chain/handle-query.ts';
import type { Chain } from '../../chain/handler.ts';
import type { Client } from '../../chain/query.ts';
import type { HandleQuery } from '../../listen/types.ts';
import { type CountingOptions, countAnswers } from './answer-counts.ts';

export interface PlainGroupOptions {
  readonly chain: Chain;
  readonly recursionAvailable: boolean;
  readonly udpSize: number;
  readonly counting: CountingOptions;
  /** Whether a client gets an answer. */
  readonly admits: (client: Pick<Client, 'address'>) => boolean;
  readonly log: Log;
}

export class PlainGroup {
  readonly handleQuery: HandleQuery;
  readonly #chain: Chain;

  constructor({ chain, recursionAvailable, udpSize, counting, admits, log }: PlainGroupOptions) {
    this.#chain = chain;
    const counted = countAnswers(createHandleQuery(chain, { recursionAvailable, udpSize, log }), counting);
    this.handleQuery = async (packet, client) => (admits(client) ? await counted(packet, client) : undefined);
  }

  chainFor(): Chain {
    return this.#chain;
  }
}
