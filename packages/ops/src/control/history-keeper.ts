/**
 * Keeps a history while the plan in force wants one: what feeds it is loaded when the server serves.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { History } from '@portolan/server/history/history.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import type { Server } from '@portolan/server/server.ts';
import { HistoryChanges } from './history-changes.ts';
import { HistoryFailures } from './history-failures.ts';

export interface HistoryKeeperOptions {
  readonly server: Server;
  readonly clock: Clock;
  readonly log: Log;
}

interface KeptHistory {
  readonly history: History;
  readonly changes: HistoryChanges;
  readonly failures: HistoryFailures;
}

export class HistoryKeeper {
  readonly #options: HistoryKeeperOptions;
  #running: KeptHistory | undefined;
  #plan: ServerPlan | undefined;
  /** What was begun comes to its end in turn. */
  #ending: Promise<void> = Promise.resolve();

  constructor(options: HistoryKeeperOptions) {
    this.#options = options;
  }

  /** Undefined: none is kept. */
  get current(): History | undefined {
    return this.#running?.history;
  }

  /** @param plan in force from now on; undefined: the server stops */
  keep(plan: ServerPlan | undefined): void {
    const former = this.#plan;
    this.#plan = plan;
    const running = this.#running;
    if (plan?.history !== undefined && isDeepStrictEqual(plan.history, running?.history.plan)) {
      if (former !== undefined) running?.changes.planChanged(former, plan);
      return;
    }
    this.#running = undefined;
    if (running !== undefined) this.#end(running, plan);
    if (plan?.history !== undefined) this.#begin(plan, running?.history);
  }

  /** Settles once all is written. */
  async stop(): Promise<void> {
    this.keep(undefined);
    await this.#ending;
  }

  #begin({ history: plan }: ServerPlan, former: History | undefined): void {
    if (plan === undefined) return;
    const history = new History(plan, this.#options);
    const failures = new HistoryFailures(history, this.#options);
    const changes = new HistoryChanges(history, this.#options);
    this.#running = { history, changes, failures };
    if (former === undefined) changes.serverStarted();
    else history.inherit(former);
    failures.start(() => changes.lookAtUpstreams());
    changes.start();
    // A file of the same name is written to its end first.
    this.#ending = this.#ending.then(() => history.start());
  }

  #end({ history, changes, failures }: KeptHistory, plan: ServerPlan | undefined): void {
    failures.stop();
    changes.stop();
    if (plan === undefined) changes.serverStops();
    this.#ending = this.#ending.then(() => history.stop());
  }
}
