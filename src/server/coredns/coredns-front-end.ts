/**
 * The front end of `coredns`: a Corefile, compiled to a plan.
 */
import type { ServerPlan } from '../../config/server/server-plan.ts';
import type { FrontEnd, FrontEndStats } from '../front-end.ts';

export interface CoreDnsFrontEndOptions {
  readonly plan: ServerPlan;
  /** Called once queries are answered. */
  readonly onServing: () => void;
}

export class CoreDnsFrontEnd implements FrontEnd {
  readonly watching = undefined;
  readonly isSettled = true;
  readonly plan: ServerPlan;
  readonly #onServing: () => void;

  constructor({ plan, onServing }: CoreDnsFrontEndOptions) {
    this.plan = plan;
    this.#onServing = onServing;
  }

  async start(): Promise<void> {}

  async reload(): Promise<void> {}

  stats(): FrontEndStats {
    return { config: undefined, watches: [] };
  }

  announce(): void {
    this.#onServing();
  }

  async stop(): Promise<void> {}
}
