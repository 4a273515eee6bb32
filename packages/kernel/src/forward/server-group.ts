/**
 * The state that questions for one group of servers share: the admission limits, and the retry budget. A group that
 * does not answer does not affect the others.
 */
import type { Clock } from '../base/clock.ts';
import { Admission, type AdmissionEvents, type AdmissionLimits } from './admission/admission.ts';
import { RetryBudget } from './retry-budget.ts';

/** A question in flight, as its group sees it. */
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

  /** Whether a question is testing the servers while all of them are down. */
  get isTested(): boolean {
    return this.#test?.isCompleted === false;
  }

  /** Makes this question test the servers. */
  testWith(question: Question): void {
    this.#test = question;
  }

  /** Whether questions are neither in flight nor waiting. */
  get isIdle(): boolean {
    const { running, waiting } = this.admission.statistics();
    return running === 0 && waiting === 0;
  }
}
