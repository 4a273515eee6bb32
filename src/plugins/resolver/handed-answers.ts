/**
 * Hands the resolver's cached answers to the process that takes over, and takes them in there.
 */
import type { Clock } from '../../base/clock.ts';
import { messageFromEntry } from '../../chain/cached-reply.ts';
import { type AnswerKeeper, type HandedAnswer, readHanded } from '../../chain/handed-answer.ts';
import { toCachedQuestion } from '../../forward/question-key.ts';
import { writeAnswerBody } from '../../table/answer-body.ts';
import type { CachedEntry } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { RESOLVER_OUTCOME } from './outcomes.ts';

/** Answers scanned without a pause. */
const PART = 1000;
const OURS: readonly number[] = Object.values(RESOLVER_OUTCOME);

export class HandedAnswers implements AnswerKeeper {
  readonly #table: TableWriter;
  readonly #clock: Clock;

  constructor(table: TableWriter, clock: Clock) {
    this.#table = table;
    this.#clock = clock;
  }

  *handOver(isUsed: boolean): Iterable<HandedAnswer> {
    let from = 0;
    do {
      const { found, next } = this.#table.scanCached(from, PART, () => true, undefined, isUsed);
      for (const entry of found)
        if (OURS.includes(entry.outcome) && entry.beforeCache !== true) yield this.#toHanded(entry);
      from = next;
    } while (from !== 0);
  }

  #toHanded(entry: CachedEntry): HandedAnswer {
    const { dnssecOk, checkingDisabled, stored, expires, freshUntil } = entry;
    const age = Math.max(0, Math.floor(this.#clock.monotonic() / 1000) - stored);
    // Hand over an answer that is served stale as the expired answer that it is.
    const lifetime = Math.max(1, Math.min(expires, freshUntil) - stored);
    return { kind: 0, dnssecOk, checkingDisabled, age, lifetime, message: messageFromEntry(entry) };
  }

  adopt(answer: HandedAnswer): void {
    const { key, message } = readHanded(answer);
    const { rcode, authenticData, recursionAvailable } = message.header;
    const { answers, authorities, additionals } = message;
    const records = { rcode, authoritative: false, authenticData, answers, authorities, additionals };
    const written = writeAnswerBody(key, records);
    if (written === undefined) return;
    const { body, ttlOffsets } = written;
    const { lifetime, age } = answer;
    const kept = { body, ttlOffsets, recursionAvailable, lifetime, outcome: RESOLVER_OUTCOME.answered };
    this.#table.cache({ ...toCachedQuestion(key), ...kept }, this.#clock.monotonic() - age * 1000);
  }
}
