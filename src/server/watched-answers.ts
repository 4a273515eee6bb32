/**
 * Answers that depend on the client: the main thread sees every query before it is answered.
 *
 * Reader threads answer from the table and see no clients. So here they are given an empty one, and every query comes to
 * the main thread, which checks its client, and answers from the real table, or by the handlers. That is slower, and only
 * configurations that ask for it pay.
 */

import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Client } from '../chain/query.ts';
import { MessageAnswers } from '../listen/message-answers.ts';
import type { HandleQuery, InstantAnswers } from '../listen/types.ts';
import { VERDICT } from '../table/types.ts';
import { TableWriter } from '../table/writer.ts';

/** Sees a query before it is answered, and the response. */
export interface Watcher {
  /** @returns whether the client gets an answer */
  admits?(client: Client): boolean;
  /** Calls `answer`, and sees the response. `isKnown`: it was known without asking the handlers. */
  observe?(query: Uint8Array, client: Client, answer: () => Promise<Watched>): Promise<Watched>;
}

export interface Watched {
  readonly response: Uint8Array | undefined;
  readonly isKnown: boolean;
}

export interface WatchedAnswers {
  /** For reader threads: nothing is known. */
  readonly table: SharedArrayBuffer;
  /** For the main thread: the same. */
  readonly answers: InstantAnswers;
  readonly handleQuery: HandleQuery;
}

export interface WatchedOptions {
  readonly watchers: readonly Watcher[];
  readonly answers: InstantAnswers;
  readonly handleQuery: HandleQuery;
  readonly udpSize: number;
  readonly udpReaders: number;
  readonly clock: Clock;
  readonly log: Log;
}

const ASK_ALWAYS: InstantAnswers = {
  enter() {},
  leave() {},
  setTime() {},
  answer: () => VERDICT.ASK,
};
const MIN_RESERVATION = 2 ** 22;

export function watchAnswers(options: WatchedOptions): WatchedAnswers {
  const { watchers, handleQuery, udpSize, udpReaders, clock, log } = options;
  const answers = new MessageAnswers(options.answers, handleQuery, { clock, log, udpSize });
  const empty = new TableWriter({ readers: udpReaders + 1, reservation: MIN_RESERVATION, cacheEntries: 0 });
  const answer = async (query: Uint8Array, client: Client): Promise<Watched> => {
    const found = answers.answer(query, client);
    if (found.kind === 'later') return { response: await found.response, isKnown: false };
    return { response: found.kind === 'response' ? found.response : undefined, isKnown: true };
  };
  return {
    table: empty.memory,
    answers: ASK_ALWAYS,
    handleQuery: async (query, client) => {
      if (!watchers.every((watcher) => watcher.admits?.(client) ?? true)) return undefined;
      const observed = watchers.reduceRight(
        (next, watcher) => () => watcher.observe?.(query, client, next) ?? next(),
        () => answer(query, client),
      );
      return (await observed()).response;
    },
  };
}

/** The handlers, observed: of what the table answers the observer learns elsewhere. */
export function observeHandlers(
  handleQuery: HandleQuery,
  observer: Pick<Watcher, 'observe'> | undefined,
): HandleQuery {
  const observe = observer?.observe?.bind(observer);
  if (observe === undefined) return handleQuery;
  return async (query, client) => {
    const answer = async () => ({ response: await handleQuery(query, client), isKnown: false });
    return (await observe(query, client, answer)).response;
  };
}
