/**
 * The main thread's part of UDP: takes questions out of the readers' rings, has them answered, and sends the answers on the
 * socket they came by.
 *
 * It takes a few at a time and lets other work of the main thread in between. When too many are unanswered it takes no
 * more; the rings fill, and the readers drop.
 */
import type { Log } from '../ground/log.ts';
import { clientOf } from '../socket/envelope.ts';
import { ReplySender } from '../socket/reply.ts';
import { Faults, failQuery } from './faults.ts';
import { QuestionConsumer, type SlowQuestion } from './question-ring.ts';
import type { AnswerSlowly } from './types.ts';

/** A reader's ring, and the descriptors of its sockets. */
export interface QuestionSource {
  readonly ring: SharedArrayBuffer;
  readonly sockets: readonly number[];
}

export interface SlowQuestionCounts {
  readonly asked: number;
  readonly unanswered: number;
  /** Answered SERVFAIL, as answering threw: a defect. */
  readonly faults: number;
  /** Answers that the kernel would not send. */
  readonly unsent: number;
  /** Questions that found their ring full. */
  readonly dropped: number;
}

interface Source {
  readonly consumer: QuestionConsumer;
  readonly sockets: readonly number[];
}

const TAKEN_PER_TURN = 64;

export class SlowQuestions {
  readonly #sources: readonly Source[];
  readonly #answerSlowly: AnswerSlowly;
  readonly #mostUnanswered: number;
  readonly #faults: Faults;
  readonly #sender = new ReplySender();
  #asked = 0;
  #unanswered = 0;
  #unsent = 0;
  #isScheduled = false;
  #isClosed = false;
  #waiting: (() => void)[] = [];

  /** @param mostUnanswered how many questions may wait for their answers at once */
  constructor(
    sources: readonly QuestionSource[],
    answerSlowly: AnswerSlowly,
    mostUnanswered: number,
    log: Log,
  ) {
    this.#sources = sources.map(({ ring, sockets }) => ({ consumer: new QuestionConsumer(ring), sockets }));
    this.#answerSlowly = answerSlowly;
    this.#mostUnanswered = mostUnanswered;
    this.#faults = new Faults(log);
    this.wake();
  }

  /** There may be questions. */
  wake(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    setImmediate(() => this.#takeSome());
  }

  /** Settles when all questions taken so far are answered. */
  async settle(): Promise<void> {
    if (this.#unanswered > 0 || this.#isScheduled)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Sends nothing from now on: the sockets are about to be closed. */
  close(): void {
    this.#isClosed = true;
  }

  count(): SlowQuestionCounts {
    return {
      asked: this.#asked,
      unanswered: this.#unanswered,
      faults: this.#faults.count,
      unsent: this.#unsent,
      dropped: this.#sources.reduce((sum, { consumer }) => sum + consumer.countDropped(), 0),
    };
  }

  #takeSome(): void {
    this.#isScheduled = false;
    if (this.#isClosed) return;
    let mayBeMore = false;
    for (const source of this.#sources) {
      if (this.#takeFrom(source) || !source.consumer.sleep()) mayBeMore = true;
    }
    // At the limit, the next answer wakes us.
    if (mayBeMore && this.#unanswered < this.#mostUnanswered) this.wake();
    this.#tellIfSettled();
  }

  /** Returns whether there may be more in this ring. */
  #takeFrom(source: Source): boolean {
    for (let taken = 0; taken < TAKEN_PER_TURN; taken++) {
      if (this.#unanswered >= this.#mostUnanswered) return true;
      const question = source.consumer.take();
      if (question === undefined) return false;
      this.#asked++;
      this.#unanswered++;
      void this.#answer(source, question);
    }
    return true;
  }

  async #answer(source: Source, question: SlowQuestion): Promise<void> {
    const response = await this.#ask(question);
    const fd = source.sockets[question.socket];
    if (response !== undefined && fd !== undefined && !this.#isClosed) {
      if (this.#sender.send(fd, question.envelope, response) !== 'sent') this.#unsent++;
    }
    const wasAtLimit = this.#unanswered-- >= this.#mostUnanswered;
    if (wasAtLimit) this.wake();
    this.#tellIfSettled();
  }

  async #ask({ query, envelope }: SlowQuestion): Promise<Uint8Array | undefined> {
    try {
      return await this.#answerSlowly(query, { ...clientOf(envelope), transport: 'udp' });
    } catch (error) {
      this.#faults.note(error);
      return query.subarray(0, failQuery(query, 0, query.length));
    }
  }

  #tellIfSettled(): void {
    if (this.#unanswered > 0 || this.#isScheduled) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
