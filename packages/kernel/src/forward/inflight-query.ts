/**
 * A question in flight, and the promise of its reply.
 */
import type { Ticket } from './admission/admission.ts';
import type { ForwardReply } from './forward-reply.ts';
import type { QueryRunner, ReaderAttempt } from './query-runner.ts';
import type { QuestionKey } from './question-key.ts';
import type { Chained } from './question-table.ts';
import type { Routes, ServersRoute } from './routes.ts';

export class InflightQuery implements Chained<InflightQuery> {
  readonly question: QuestionKey;
  nextInChain: InflightQuery | undefined;
  /** The routes at its start, and its own route among them. */
  readonly routes: Routes<InflightQuery>;
  readonly route: ServersRoute<InflightQuery>;
  ticket: Ticket<InflightQuery> | undefined;
  resolution: QueryRunner | undefined;
  /** The query that another thread has sent already. */
  tried: ReaderAttempt | undefined;
  /** When the first client asked, by the clock's monotonic time. The deadline starts here and includes time in the queue. */
  readonly arrivedAt: number;
  startedAt = 0;
  isCompleted = false;
  /** Shared by all who wait. */
  readonly reply: Promise<ForwardReply>;
  #resolve: (reply: ForwardReply) => void = () => {};

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
    this.reply = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  complete(reply: ForwardReply): void {
    this.isCompleted = true;
    this.#resolve(reply);
  }
}
