/**
 * Keeps a history while the plan in force wants one: what feeds it is loaded when the server serves.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { History } from '@portolan/server/history/history.ts';
import type { HistoryPlan } from '@portolan/server/plan/history-plan.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import type { Server } from '@portolan/server/server.ts';
import { HistoryChanges } from './history-changes.ts';
import { HistoryFailures } from './history-failures.ts';

export interface HistoryKeeperOptions {
  readonly server: Server;
  readonly clock: Clock;
  readonly log: Log;
}

interface RunningHistory {
  readonly kept: { history: History };
  readonly changes: HistoryChanges;
  readonly failures: HistoryFailures;
}

export class HistoryKeeper {
  readonly #options: HistoryKeeperOptions;
  #running: RunningHistory | undefined;
  #plan: ServerPlan | undefined;
  /** What was begun comes to its end in turn. */
  #ending: Promise<void> = Promise.resolve();

  constructor(options: HistoryKeeperOptions) {
    this.#options = options;
  }

  /** Undefined: none is kept. */
  get current(): History | undefined {
    return this.#running?.kept.history;
  }

  /** @param plan in force from now on; undefined: the server stops */
  keep(plan: ServerPlan | undefined): void {
    const former = this.#plan;
    this.#plan = plan;
    const running = this.#running;
    if (plan?.history === undefined) {
      this.#running = undefined;
      if (running !== undefined) this.#end(running, plan);
    } else if (running === undefined) this.#begin(plan.history, former === undefined);
    else {
      if (!isDeepStrictEqual(plan.history, running.kept.history.plan))
        this.#replace(running.kept, plan.history);
      if (former !== undefined) running.changes.planChanged(former, plan);
    }
  }

  /** Settles once all is written. */
  async stop(): Promise<void> {
    this.keep(undefined);
    await this.#ending;
  }

  #begin(plan: HistoryPlan, isStart: boolean): void {
    const history = new History(plan, this.#options);
    const kept = { history };
    const failures = new HistoryFailures(kept, this.#options);
    const changes = new HistoryChanges(kept, this.#options);
    this.#running = { kept, changes, failures };
    if (isStart) changes.serverStarted();
    failures.start(() => changes.lookAtUpstreams());
    changes.start();
    this.#ending = this.#ending.then(() => history.start());
  }

  /** What feeds it goes on: what is noted already is not new. */
  #replace(kept: RunningHistory['kept'], plan: HistoryPlan): void {
    const former = kept.history;
    const history = new History(plan, this.#options);
    kept.history = history;
    // A file of the same name is written to its end first.
    this.#ending = this.#ending.then(() => former.stop()).then(() => history.start(former));
  }

  #end({ kept, changes, failures }: RunningHistory, plan: ServerPlan | undefined): void {
    failures.stop();
    changes.stop();
    if (plan === undefined) changes.serverStops();
    this.#ending = this.#ending.then(() => kept.history.stop());
  }
}
