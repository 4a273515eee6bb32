/**
 * Answers one message at a time on the main thread: from what is known, else from whoever answers slowly. The part that
 * every listener without batches has in common.
 */
import type { Clock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { Faults, failQuery } from './faults.ts';
import type { AnswerSlowly, Client, InstantAnswers } from './types.ts';

/** A response, nothing to send, or a response that will come. */
export type MessageAnswer =
  | { readonly kind: 'response'; readonly response: Uint8Array }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'later'; readonly response: Promise<Uint8Array | undefined> };

const LARGEST_MESSAGE = 65_535;
const NOTHING: MessageAnswer = { kind: 'nothing' };

export class MessageAnswers {
  readonly faults: Faults;
  readonly #instant: InstantAnswers;
  readonly #slowly: AnswerSlowly;
  readonly #clock: Clock;
  readonly #scratch = new Uint8Array(LARGEST_MESSAGE);

  constructor(
    instant: InstantAnswers,
    slowly: AnswerSlowly,
    surroundings: { readonly clock: Clock; readonly log: Log },
  ) {
    this.#instant = instant;
    this.#slowly = slowly;
    this.#clock = surroundings.clock;
    this.faults = new Faults(surroundings.log);
  }

  /**
   * @param query at most 65,535 octets, copied before this returns; responses have memory of their own
   * @param limit the server's own maximum for UDP, or `DNS_OVER_TCP_LIMIT`
   */
  answer(query: Uint8Array, client: Client, limit: number): MessageAnswer {
    this.#scratch.set(query);
    const verdict = this.#answerInstantly(query.length, limit);
    if (verdict > 0) return { kind: 'response', response: this.#scratch.slice(0, verdict) };
    if (verdict === 0) return NOTHING;
    return { kind: 'later', response: this.#answerLater(Uint8Array.from(query), client) };
  }

  #answerInstantly(length: number, limit: number): number {
    const came = this.#clock.now();
    this.#instant.enter();
    try {
      this.#instant.setTime(came);
      return this.#instant.answer(this.#scratch, 0, length, LARGEST_MESSAGE, limit);
    } catch (error) {
      this.faults.note(error);
      return failQuery(this.#scratch, 0, length);
    } finally {
      this.#instant.leave(this.#clock.now() - came);
    }
  }

  async #answerLater(query: Uint8Array, client: Client): Promise<Uint8Array | undefined> {
    try {
      return await this.#slowly(query, client);
    } catch (error) {
      this.faults.note(error);
      return query.subarray(0, failQuery(query, 0, query.length));
    }
  }
}
