/**
 * Answers over UDP that readers have no room for: the main thread copies them from the table, in place of decoding them in the chain.
 * Only clients that offer a larger UDP size than ours get them, and only where the table has no limit of its own (`-compat`).
 */
import { QueryRecords, readUdpSize } from '@portolan/dns/query-records.ts';
import type { Client } from '../chain/query.ts';
import { MessageAnswers, type MessageAnswersDependencies } from './message-answers.ts';
import type { InstantAnswers } from './types.ts';

/** @returns undefined if the chain must answer */
export type AnswerLarge = (query: Uint8Array, client: Client) => Uint8Array | undefined;

export class LargeAnswers {
  readonly #messages: MessageAnswers;
  readonly #udpSize: number;
  readonly #records = new QueryRecords();

  /** @param dependencies their UDP size is that of readers; without rules for clients, which readers have applied */
  constructor(answers: InstantAnswers, dependencies: Omit<MessageAnswersDependencies, 'clientRules'>) {
    this.#messages = new MessageAnswers(answers, () => Promise.resolve(undefined), dependencies);
    this.#udpSize = dependencies.udpSize;
  }

  /** @param query that a reader has left open @returns the response; undefined if the chain must answer */
  answer(query: Uint8Array, client: Client): Uint8Array | undefined {
    this.#records.search(query, 0, query.length);
    const { opt } = this.#records;
    if (opt === 0 || readUdpSize(query, opt) <= this.#udpSize) return undefined;
    const answer = this.#messages.answer(query, client);
    return answer.kind === 'response' ? answer.response : undefined;
  }
}
