/**
 * A question in flight, and the waiters for its reply: some by a promise, some by a callback.
 */
import type { Ticket } from './admission/admission.ts';
import { type ForwardReply, keepReply, type LentReply } from './forward-reply.ts';
import type { QuestionKey } from './question-key.ts';
import type { Chained } from './question-table.ts';
import type { Routes, ServersRoute } from './routes.ts';
import type { RunningResolution, TriedQuery } from './running-resolution.ts';

export interface ReplyWaiter {
  /**
   * Called once, for all waiters in the order of their arrival, with the same object.
   *
   * @param reply lent until this returns
   */
  completed(reply: LentReply): void;
}

export class InflightQuery implements Chained<InflightQuery> {
  readonly question: QuestionKey;
  nextInChain: InflightQuery | undefined;
  /** The routes at its start, and the one among them that it takes. */
  readonly routes: Routes<InflightQuery>;
  readonly route: ServersRoute<InflightQuery>;
  ticket: Ticket<InflightQuery> | undefined;
  resolution: RunningResolution | undefined;
  /** What another thread has asked already. */
  tried: TriedQuery | undefined;
  /** When the first client asked, of the clock's monotonic time: the deadline counts from here, time in the queue included. */
  readonly arrivedAt: number;
  startedAt = 0;
  isCompleted = false;
  /** In nearly all cases the only one. */
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

  /** To be called before it is complete. */
  wait(waiter: ReplyWaiter): void {
    if (this.#first === undefined) this.#first = waiter;
    else if (this.#others === undefined) this.#others = [waiter];
    else this.#others.push(waiter);
  }

  /** The reply as a promise, the same for all. To be called before it is complete. */
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
    // A promise is read later, when the lent memory is reused.
    this.#resolve?.(keepReply(reply));
  }
}
