/**
 * A question in flight, and the waiters for its reply, by promise or callback.
 */
import type { Ticket } from './admission/admission.ts';
import { type ForwardReply, keepReply, type LentReply } from './forward-reply.ts';
import type { QuestionKey } from './question-key.ts';
import type { Chained } from './question-table.ts';
import type { Routes, ServersRoute } from './routes.ts';
import type { RunningResolution, TriedQuery } from './running-resolution.ts';

export interface ReplyWaiter {
  /**
   * Called once for each waiter, in the order of their arrival, with the same object.
   *
   * @param reply lent until it returns
   */
  completed(reply: LentReply): void;
}

export class InflightQuery implements Chained<InflightQuery> {
  readonly question: QuestionKey;
  nextInChain: InflightQuery | undefined;
  /** The routes at its start, and its own route among them. */
  readonly routes: Routes<InflightQuery>;
  readonly route: ServersRoute<InflightQuery>;
  ticket: Ticket<InflightQuery> | undefined;
  resolution: RunningResolution | undefined;
  /** The query that another thread has sent already. */
  tried: TriedQuery | undefined;
  /** When the first client asked, by the clock's monotonic time. The deadline starts here and includes time in the queue. */
  readonly arrivedAt: number;
  startedAt = 0;
  isCompleted = false;
  /** The first waiter, in nearly all cases the only one. */
  #first: ReplyWaiter | undefined;
  #others: ReplyWaiter[] | undefined;
  #promise: Promise<ForwardReply> | undefined;
  #resolve: ((reply: ForwardReply) => void) | undefined;

  constructor(
    question: QuestionKey,
    routes: Routes<InflightQuery>,
    route: ServersRoute<InflightQuery>,
    arrivedAt: number,
  ) {
    this.question = question;
    this.arrivedAt = arrivedAt;
    this.routes = routes;
    this.route = route;
  }

  /** Adds a waiter. Call it before completion. */
  wait(waiter: ReplyWaiter): void {
    if (this.#first === undefined) this.#first = waiter;
    else if (this.#others === undefined) this.#others = [waiter];
    else this.#others.push(waiter);
  }

  /** The reply as a promise, shared by all. Call it before completion. */
  promise(): Promise<ForwardReply> {
    this.#promise ??= new Promise((resolve) => {
      this.#resolve = resolve;
    });
    return this.#promise;
  }

  complete(reply: LentReply): void {
    this.isCompleted = true;
    this.#first?.completed(reply);
    if (this.#others !== undefined) for (const waiter of this.#others) waiter.completed(reply);
    // A promise is read later, when the lent memory has been reused.
    this.#resolve?.(keepReply(reply));
  }
}
