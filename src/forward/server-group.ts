/**
 * What the questions for one group of servers share: the bounds on how many may be under way, and the budget of retries. A group
 * that does not answer takes nothing from the others.
 */
import type { Clock } from '../base/clock.ts';
import { Admission, type AdmissionEvents, type AdmissionLimits } from './admission/admission.ts';
import { RetryBudget } from './retry-budget.ts';

/** A question under way, as its group sees it. */
export interface GroupQuestion {
  readonly isCompleted: boolean;
}

export class ServerGroup<Question extends GroupQuestion> {
  readonly admission: Admission<Question>;
  readonly budget: RetryBudget;
  #test: Question | undefined;

  constructor(limits: AdmissionLimits, clock: Clock, events: AdmissionEvents<Question>) {
    this.admission = new Admission(limits, clock, events);
    this.budget = new RetryBudget(clock);
  }

  /** Whether a question is under way that tests the servers, while all of them are down. */
  get isTested(): boolean {
    return this.#test?.isCompleted === false;
  }

  /** Lets this question test the servers. */
  testWith(question: Question): void {
    this.#test = question;
  }

  /** Whether no question is under way or waits. */
  get isIdle(): boolean {
    const { running, waiting } = this.admission.statistics();
    return running === 0 && waiting === 0;
  }
}
