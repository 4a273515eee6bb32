/**
 * A question under way, and all who ask it: some by a promise, some who are told at once.
 */
import type { Ticket } from './admission/admission.ts';
import type { Chained, FlightQuestion } from './flights.ts';
import type { ForwardReply } from './forward-reply.ts';
import type { Resolution } from './resolution.ts';
import type { Routes, ServersRoute } from './routes.ts';
import { keepMessage } from './transport/plain-reply.ts';

export interface ReplyWaiter {
  /**
   * Called once, for all who wait in the order in which they came, with the same object.
   *
   * @param reply its message is perhaps a `PlainReply`, which is lent until this returns
   */
  landed(reply: ForwardReply): void;
}

export class Flight implements Chained<Flight> {
  readonly question: FlightQuestion;
  nextInChain: Flight | undefined;
  /** The routes that it was launched under, and its own of them. */
  readonly routes: Routes;
  readonly route: ServersRoute;
  ticket: Ticket<Flight> | undefined;
  resolution: Resolution | undefined;
  startedAt = 0;
  hasLanded = false;
  /** Nearly always there is one. */
  #first: ReplyWaiter | undefined;
  #others: ReplyWaiter[] | undefined;
  #promise: Promise<ForwardReply> | undefined;
  #resolve: ((reply: ForwardReply) => void) | undefined;

  constructor(question: FlightQuestion, routes: Routes, route: ServersRoute) {
    this.question = question;
    this.routes = routes;
    this.route = route;
  }

  /** To be called before it lands. */
  wait(waiter: ReplyWaiter): void {
    if (this.#first === undefined) this.#first = waiter;
    else if (this.#others === undefined) this.#others = [waiter];
    else this.#others.push(waiter);
  }

  /** The reply, for whoever waits by a promise: the same for all. To be called before it lands. */
  promise(): Promise<ForwardReply> {
    this.#promise ??= new Promise((resolve) => {
      this.#resolve = resolve;
    });
    return this.#promise;
  }

  land(reply: ForwardReply): void {
    this.hasLanded = true;
    this.#first?.landed(reply);
    if (this.#others !== undefined) for (const waiter of this.#others) waiter.landed(reply);
    // A promise is looked at later, when what was lent is gone.
    this.#resolve?.(reply.kind === 'reply' ? { ...reply, message: keepMessage(reply.message) } : reply);
  }
}
