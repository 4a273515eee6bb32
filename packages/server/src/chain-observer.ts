/**
 * Lets an observer see the queries that handlers answer. It learns of answers from the table by other means.
 */
import type { Client, HandleQuery } from '@portolan/kernel/chain/query.ts';

/** Calls `answer` and observes its response. */
export type ObserveQuery = (
  query: Uint8Array,
  client: Client,
  answer: () => Promise<Uint8Array | undefined>,
) => Promise<Uint8Array | undefined>;

/** @param admits whether a client may get an answer; others are not observed */
export function observeHandlers(
  handleQuery: HandleQuery,
  observe: ObserveQuery,
  admits: (client: Client) => boolean,
): HandleQuery {
  return async (query, client) => {
    if (!admits(client)) return undefined;
    return await observe(query, client, () => handleQuery(query, client));
  };
}
