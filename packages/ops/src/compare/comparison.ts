/**
 * Asks both sides the same questions, at a bounded rate, and counts the verdicts.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { AskedQuestion } from './asked-question.ts';
import { type FindDeviation, judgeReplies, type ReplyVerdict, type Sides } from './judge-replies.ts';
import type { QueryResponder, QueryResponderReply } from './query-responder.ts';
import type { Tally } from './tally.ts';

export interface ComparisonOptions {
  readonly answerers: readonly [QueryResponder, QueryResponder];
  readonly sides: Sides;
  readonly findDeviation: FindDeviation;
  /** The most questions in a second. */
  readonly rate: number;
  /** The most questions in all; undefined: as many as come. */
  readonly maxQuestions: number | undefined;
  readonly tally: Tally;
  readonly clock: Clock;
}

/** A side that has never replied. */
export class SilentSideError extends Error {
  override readonly name = 'SilentSideError';
  /** 0 or 1. */
  readonly side: number;

  constructor(side: number, reason: string) {
    super(reason);
    this.side = side;
  }
}

/** Questions that both sides work on at a time. */
const MAX_IN_FLIGHT = 100;
/** A side that replied to none of so many questions is not a server. */
const FIRST_QUESTIONS = 10;
/** Milliseconds for which missed turns are made up. */
const CATCH_UP = 50;

type Replies = readonly [QueryResponderReply, QueryResponderReply];

export class Comparison {
  readonly #options: ComparisonOptions;
  readonly #replied = [0, 0];
  #asked = 0;
  #inFlight = 0;
  #isStopped = false;
  #nextTurn: number;
  #failure: Error | undefined;
  #wake: () => void = () => {};

  constructor(options: ComparisonOptions) {
    this.#options = options;
    this.#nextTurn = options.clock.monotonic();
  }

  /** Asks no further questions. */
  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }

  /** Resolves when all questions are judged. @throws SilentSideError */
  async run(questions: AsyncIterable<AskedQuestion>): Promise<void> {
    const { maxQuestions = Number.POSITIVE_INFINITY } = this.#options;
    if (maxQuestions > 0)
      for await (const question of questions) {
        await this.#turn();
        if (this.#isStopped) break;
        this.#asked += 1;
        this.#inFlight += 1;
        void this.#compare(question);
        if (this.#asked >= maxQuestions) break;
      }
    while (this.#inFlight > 0) await this.#change();
    if (this.#failure !== undefined) throw this.#failure;
    this.#checkSides();
  }

  /** Waits for a place, and for the time of the next question. */
  async #turn(): Promise<void> {
    const { clock, rate } = this.#options;
    // The first questions show whether there are two servers: wait for them.
    const places = this.#replied.every((count) => count > 0) ? MAX_IN_FLIGHT : FIRST_QUESTIONS;
    while (this.#inFlight >= places && !this.#isStopped) await this.#change();
    const now = clock.monotonic();
    const turn = Math.max(this.#nextTurn, now - CATCH_UP);
    this.#nextTurn = turn + 1000 / rate;
    if (turn - now >= 1 && !this.#isStopped)
      await new Promise<void>((resolve) => {
        clock.after(turn - now, resolve);
      });
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #compare(question: AskedQuestion): Promise<void> {
    try {
      const { tally } = this.#options;
      const replies = await this.#ask(question);
      this.#countReplies(replies);
      const verdict = this.#judge(question, replies);
      const isOpen = verdict.kind === 'different' && verdict.deviation === undefined;
      if (isOpen && (await this.#agreeLater(question, replies))) tally.addUnsteady();
      else tally.add(question, verdict);
      if (this.#asked >= FIRST_QUESTIONS) this.#checkSides();
    } catch (error) {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
      this.#isStopped = true;
    } finally {
      this.#inFlight -= 1;
      this.#wake();
    }
  }

  /** Over TCP as well if a reply did not fit: what is left out depends on the order. */
  async #ask(question: AskedQuestion): Promise<Replies> {
    const { answerers } = this.#options;
    const [one, other] = answerers;
    const replies = await Promise.all([one.ask(question, false), other.ask(question, false)]);
    if (!replies.every(isTruncated)) return replies;
    return await Promise.all([one.ask(question, true), other.ask(question, true)]);
  }

  #judge(question: AskedQuestion, replies: Replies): ReplyVerdict {
    const { sides, findDeviation } = this.#options;
    return judgeReplies(question, replies, sides, findDeviation);
  }

  /** Whether both sides are asked again, and one says what the other one said: answers that change by themselves are no difference. */
  async #agreeLater(question: AskedQuestion, [one, other]: Replies): Promise<boolean> {
    const [oneLater, otherLater] = await this.#ask(question);
    const pairs: readonly Replies[] = [
      [oneLater, otherLater],
      [one, otherLater],
      [oneLater, other],
    ];
    return pairs.some((pair) => this.#judge(question, pair).kind !== 'different');
  }

  #countReplies(replies: Replies): void {
    for (const side of [0, 1] as const) {
      const reply = replies[side];
      if (reply.kind === 'failed') continue;
      this.#replied[side] = (this.#replied[side] ?? 0) + 1;
      this.#options.tally.addRoundTrip(side, reply.milliseconds);
    }
  }

  #checkSides(): void {
    const silent = this.#replied.indexOf(0);
    const judged = this.#asked - this.#inFlight;
    if (silent >= 0 && judged > 0)
      throw new SilentSideError(silent, `no reply to any of the first ${this.#asked} questions`);
  }
}

function isTruncated(reply: QueryResponderReply): boolean {
  return reply.kind === 'replied' && reply.message.header.truncated;
}
