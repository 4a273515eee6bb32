/**
 * Controls the query log from the main thread: turns it on and off, changes its settings, and waits for its last line.
 *
 * A separate thread drains the rings of all readers, so that readers and the main thread only append events. While the log is off,
 * the thread does not exist and readers write no events.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { RateLimitedWarnings } from '../../base/rate-limited-warning.ts';
import type { QueryLogPlan } from '../../config/server/query-log-plan.ts';
import { QueryEventReader } from '../../listen/query-events/event-reader.ts';
import { EVENT_MODE } from '../../listen/query-events/event-ring.ts';
import type { QueryEventRings } from '../../listen/query-events/event-rings.ts';
import type { ExplainEvents, ExplainedEvent } from './explained-event.ts';
import type { QueryLogOrder, QueryLogReport, QueryLogThreadData } from './query-log-thread.ts';

export interface QueryLogOptions {
  readonly rings: QueryEventRings;
  /** The built `query-log-thread.ts`. */
  readonly threadEntry: URL;
  readonly clock: Clock;
  readonly log: Log;
}

interface Running {
  readonly worker: Worker;
  readonly plan: QueryLogPlan;
  /** Resolves when the thread has ended. */
  readonly ended: Promise<void>;
}

export class QueryLog {
  readonly #options: QueryLogOptions;
  readonly #warnings: RateLimitedWarnings;
  readonly #readers: readonly QueryEventReader[];
  #running: Running | undefined;
  #explain: ExplainEvents | undefined;
  #failures = 0;
  #changing: Promise<void> = Promise.resolve();

  constructor(options: QueryLogOptions) {
    this.#options = options;
    this.#warnings = new RateLimitedWarnings(options.log, options.clock);
    this.#readers = options.rings.all.map((memory) => new QueryEventReader(memory));
  }

  /** The plan in force; undefined: no query log. */
  get plan(): QueryLogPlan | undefined {
    return this.#running?.plan;
  }

  /** Events lost because their ring was full. */
  get dropped(): number {
    return this.#readers.reduce((sum, { dropped }) => sum + dropped, 0);
  }

  /** Failed writes. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Switches to another plan, or turns the log off.
   *
   * @returns a promise that resolves when the plan is in force
   * @throws if the file cannot be opened; the log is then off
   */
  change(plan: QueryLogPlan | undefined): Promise<void> {
    const changed = this.#changing.then(() => this.#change(plan));
    this.#changing = changed.catch(() => {});
    return changed;
  }

  /** Gives lines the source and the reason of their answers. Call it before the log is turned on. */
  explainBy(explain: ExplainEvents): void {
    this.#explain = explain;
  }

  /** Reopens the file after rotation. */
  reopen(): void {
    this.#order({ kind: 'reopen' });
  }

  /** Writes the remaining lines and ends. */
  stop(): Promise<void> {
    return this.change(undefined);
  }

  async #change(plan: QueryLogPlan | undefined): Promise<void> {
    const running = this.#running;
    if (running !== undefined && plan !== undefined && plan.file === running.plan.file) {
      this.#running = { ...running, plan };
      this.#order({ kind: 'change', settings: plan.settings });
      return;
    }
    if (running !== undefined) {
      this.#options.rings.setMode(EVENT_MODE.OFF);
      this.#order({ kind: 'stop' });
      await running.ended;
      this.#options.rings.consumerEnded();
      this.#running = undefined;
    }
    if (plan !== undefined) await this.#start(plan);
  }

  async #start(plan: QueryLogPlan): Promise<void> {
    const { rings, threadEntry, log } = this.#options;
    const data: QueryLogThreadData = { rings: rings.all, plan, isExplained: this.#explain !== undefined };
    // Do not inherit options: the port of a debugger, for example, belongs to the main thread.
    const worker = new Worker(threadEntry, { workerData: data, execArgv: [], name: 'query log' });
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    await new Promise<void>((resolve, reject) => {
      worker.once('error', reject);
      worker.on('message', (report: QueryLogReport) => {
        if (report.kind === 'started') resolve();
        if (report.kind === 'explain') void this.#explainTo(worker, report.events);
        if (report.kind === 'failed') this.#onFailure(report.reason);
      });
    });
    worker.on('error', (error) => {
      log.error('query log ended: internal error', { reason: error.message });
      rings.setMode(EVENT_MODE.OFF);
      this.#running = undefined;
    });
    this.#running = { worker, plan, ended };
    rings.setMode(EVENT_MODE.QUERIES);
  }

  async #explainTo(worker: Worker, events: readonly ExplainedEvent[]): Promise<void> {
    const explanations = (await this.#explain?.(events).catch(() => [])) ?? [];
    worker.postMessage({ kind: 'explained', explanations } satisfies QueryLogOrder);
  }

  #onFailure(reason: string): void {
    this.#failures += 1;
    this.#warnings.warn('query log not written', { reason });
  }

  #order(order: QueryLogOrder): void {
    this.#running?.worker.postMessage(order);
  }
}
