/**
 * Answers where somebody must look at every query: to log it, or to see whether its client may ask at all.
 *
 * Reader threads answer from the table and see no clients. So here they are given an empty one, and everything comes to the
 * main thread, which looks, and then answers from the real table, or by the handlers. That is slower, and only those who asked
 * for it pay.
 */

import type { Clock } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import { MessageAnswers } from '../../listen/message-answers.ts';
import {
  type AnswerSlowly,
  type Client,
  DNS_OVER_TCP_LIMIT,
  type InstantAnswers,
} from '../../listen/types.ts';
import { VERDICT } from '../../table/types.ts';
import { TableWriter } from '../../table/writer.ts';

/** Looks at a query before it is answered, and at the response. */
export interface Watcher {
  /** @returns whether the client gets an answer */
  admits?(client: Client): boolean;
  /** Calls `answer`, and may look at what comes of it. `isKnown` says whether it was known without asking the handlers. */
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
  readonly answerSlowly: AnswerSlowly;
}

export interface WatchedOptions {
  readonly watchers: readonly Watcher[];
  readonly answers: InstantAnswers;
  readonly answerSlowly: AnswerSlowly;
  readonly udpLimit: number;
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
const LEAST_RESERVATION = 2 ** 22;

export function watchAnswers(options: WatchedOptions): WatchedAnswers {
  const { watchers, answerSlowly, udpLimit, udpReaders, clock, log } = options;
  const answers = new MessageAnswers(options.answers, answerSlowly, { clock, log });
  const empty = new TableWriter({ readers: udpReaders + 1, reservation: LEAST_RESERVATION, cacheEntries: 0 });
  const answer = async (query: Uint8Array, client: Client): Promise<Watched> => {
    const limit = client.transport === 'udp' ? udpLimit : DNS_OVER_TCP_LIMIT;
    const found = answers.answer(query, client, limit);
    if (found.kind === 'later') return { response: await found.response, isKnown: false };
    return { response: found.kind === 'response' ? found.response : undefined, isKnown: true };
  };
  return {
    table: empty.memory,
    answers: ASK_ALWAYS,
    answerSlowly: async (query, client) => {
      if (!watchers.every((watcher) => watcher.admits?.(client) ?? true)) return undefined;
      const observed = watchers.reduceRight(
        (next, watcher) => () => watcher.observe?.(query, client, next) ?? next(),
        () => answer(query, client),
      );
      return (await observed()).response;
    },
  };
}
