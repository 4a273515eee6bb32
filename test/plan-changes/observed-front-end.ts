/**
 * A front end that wraps another one and shows a test each plan that the server follows.
 */
import type { FrontEnd, PlanListener, ServingFacts } from '@portolan/server/front-end.ts';
import type { ObjectSource } from '@portolan/server/object-source.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';

export interface PlanObserver {
  /** The plan that is followed for one of the front end. */
  vary(plan: ServerPlan): ServerPlan;
  /** Called when it is followed. */
  followed(plan: ServerPlan): void;
}

export class ObservedFrontEnd implements FrontEnd {
  readonly #base: FrontEnd;
  readonly #observer: PlanObserver;

  constructor(base: FrontEnd, observer: PlanObserver) {
    this.#base = base;
    this.#observer = observer;
  }

  get plan(): ServerPlan {
    return this.#observer.vary(this.#base.plan);
  }

  get watching() {
    return this.#base.watching;
  }

  get reloadsPlanAlone(): boolean {
    return this.#base.reloadsPlanAlone;
  }

  get isSettled(): boolean {
    return this.#base.isSettled;
  }

  async open(): Promise<void> {
    await this.#base.open?.();
  }

  start(onChange: PlanListener, source: ObjectSource | undefined): Promise<void> {
    const observer = this.#observer;
    return this.#base.start(async (plan, clearsCache) => {
      const varied = observer.vary(plan);
      await onChange(varied, clearsCache);
      observer.followed(varied);
    }, source);
  }

  async leaving(): Promise<void> {
    await this.#base.leaving?.();
  }

  reload(): Promise<void> {
    return this.#base.reload();
  }

  stats() {
    return this.#base.stats();
  }

  announce(facts: ServingFacts): void {
    this.#base.announce(facts);
  }

  stop(): Promise<void> {
    return this.#base.stop();
  }
}
