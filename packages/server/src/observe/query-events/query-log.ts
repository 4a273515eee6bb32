/**
 * The query log of a server, seen from the main thread. One thread reads the events of all threads. It writes the lines of the log that
 * users switch on, and those of the server's own log: CoreDNS's `log`, and dnsmasq's `--log-queries`.
 *
 * Threads that answer only append events to their rings. While nobody wants lines, the thread does not exist and nothing is appended.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { RateLimitedWarnings } from '@portolan/kernel/base/rate-limited-warning.ts';
import { QueryEventReader } from '@portolan/kernel/listen/query-events/event-reader.ts';
import { EVENT_MODE } from '@portolan/kernel/listen/query-events/event-ring.ts';
import type { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import type { QueryLogPlan } from '../../plan/query-log-plan.ts';
import type { LineRules, QueryLine } from './event-lines.ts';
import type { ExplainEvents, ExplainedEvent } from './explained-event.ts';
import type { QueryLogOrder, QueryLogReport, QueryLogThreadData } from './query-log-thread.ts';

export interface QueryLogOptions {
  /** The built `query-log-thread.ts`. */
  readonly threadEntry: URL;
  /** Writes lines of the server's own log. */
  readonly say: (lines: readonly QueryLine[]) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Rings of events, and the rules for lines of the server's own log about them; undefined: it has none. */
export interface LoggedRings {
  readonly rings: QueryEventRings;
  readonly lines: LineRules | undefined;
}

/** For notes alone. */
export const COREDNS_NOTES: LineRules = { kind: 'coredns', zones: [] };

interface Running {
  readonly worker: Worker;
  /** Resolves when the thread has ended. */
  readonly ended: Promise<void>;
}

export class QueryLog {
  readonly #options: QueryLogOptions;
  readonly #warnings: RateLimitedWarnings;
  /** Of the main thread, for notes. */
  readonly #main: QueryEventRings;
  #followed: readonly LoggedRings[];
  /** Those that the thread knows. */
  #told: readonly LoggedRings[] = [];
  /** Whether the thread ended or could not start although lines are wanted. */
  #isBroken = false;
  #readers = new Map<SharedArrayBuffer, QueryEventReader>();
  #plan: QueryLogPlan | undefined;
  #running: Running | undefined;
  #explain: ExplainEvents | undefined;
  #onChanged: (error: Error | undefined) => void = () => {};
  /** Of rings that are not followed any more. */
  #formerlyDropped = 0;
  #toldDropped = 0;
  #failures = 0;
  #changing: Promise<void> = Promise.resolve();

  /** @param main the rings of the main thread, and of all readers that have no others */
  constructor(main: QueryEventRings, options: QueryLogOptions) {
    this.#options = options;
    this.#main = main;
    this.#warnings = new RateLimitedWarnings(options.log, options.clock);
    this.#followed = [];
    this.#take([{ rings: main, lines: undefined }]);
  }

  /** The plan in force; undefined: no query log. */
  get plan(): QueryLogPlan | undefined {
    return this.#plan;
  }

  /** Events and notes lost because their ring was full. */
  get dropped(): number {
    let dropped = this.#formerlyDropped;
    for (const reader of this.#readers.values()) dropped += reader.dropped;
    return dropped;
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
    return this.#inTurn(() => this.#change(plan));
  }

  /** Writes lines about these rings from now on. Resolves when the thread knows it; events are kept meanwhile. */
  follow(followed: readonly LoggedRings[]): Promise<void> {
    this.#take(followed);
    return this.#inTurn(() => this.#settle());
  }

  /**
   * Adds a line about a query that the main thread answers, in the order of time.
   *
   * @param number by which the rules of lines know it, such as that of its query
   * @returns false if there are no other lines to order it among; then the caller writes it
   */
  note(line: string, number = 0): boolean {
    if (!this.#hasLines || this.#isBroken) return false;
    this.#main.main.note(line, number);
    return true;
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
    return this.#inTurn(async () => {
      this.#plan = undefined;
      this.#followed = this.#followed.map(({ rings }) => ({ rings, lines: undefined }));
      await this.#settle();
    });
  }

  #inTurn(run: () => Promise<void>): Promise<void> {
    const done = this.#changing.then(run);
    this.#changing = done.catch(() => {});
    return done;
  }

  get #hasLines(): boolean {
    return this.#followed.some(({ lines }) => lines !== undefined);
  }

  /** Rings that are left have their last events read, and record no more. */
  #take(followed: readonly LoggedRings[]): void {
    const memories = new Set(followed.flatMap(({ rings }) => rings.all));
    for (const [memory, reader] of this.#readers)
      if (!memories.has(memory)) this.#formerlyDropped += reader.dropped;
    this.#readers = new Map(
      Array.from(memories, (memory) => [memory, this.#readers.get(memory) ?? new QueryEventReader(memory)]),
    );
    const kept = new Set(followed.map(({ rings }) => rings));
    for (const { rings } of this.#followed) if (!kept.has(rings)) rings.consumerEnded();
    this.#followed = followed;
    if (this.#hasLines || this.#running !== undefined) this.#record();
  }

  /** Lets threads record what lines need. Notes are recorded in any case. */
  #record(): void {
    const least = this.#plan === undefined ? EVENT_MODE.OFF : EVENT_MODE.QUERIES;
    for (const { rings, lines } of this.#followed) {
      const readers = lines === undefined ? least : EVENT_MODE.RESPONSES;
      // The plugin `log` notes what the chain answers.
      const isForNotes = rings === this.#main && lines?.kind === 'coredns';
      rings.setMode(readers, isForNotes ? least : readers);
    }
  }

  async #change(plan: QueryLogPlan | undefined): Promise<void> {
    this.#plan = plan;
    await this.#settle();
    if (this.#running === undefined) return;
    const changed = new Promise<Error | undefined>((resolve) => {
      this.#onChanged = resolve;
    });
    this.#order({ kind: 'change', plan });
    const error = await Promise.race([changed, this.#running.ended]);
    if (error === undefined) return;
    this.#plan = undefined;
    await this.#settle();
    throw error;
  }

  /** Starts or ends the thread, or tells it what to follow. */
  async #settle(): Promise<void> {
    const isWanted = this.#plan !== undefined || this.#hasLines;
    if (isWanted) {
      this.#record();
      if (this.#running === undefined) await this.#start();
      else if (this.#told !== this.#followed) this.#order({ kind: 'follow', sources: this.#sources() });
      this.#told = this.#followed;
    } else if (this.#running !== undefined) {
      const { ended } = this.#running;
      this.#record();
      this.#order({ kind: 'stop' });
      await ended;
      this.#running = undefined;
      this.#release();
    }
  }

  #break(): void {
    this.#isBroken = true;
    this.#running = undefined;
    this.#plan = undefined;
    this.#release();
  }

  #release(): void {
    for (const { rings } of this.#followed) rings.consumerEnded();
  }

  #sources(): QueryLogThreadData['sources'] {
    return this.#followed.flatMap(({ rings, lines }) => rings.all.map((memory) => ({ memory, lines })));
  }

  async #start(): Promise<void> {
    const { threadEntry, log } = this.#options;
    const data: QueryLogThreadData = { sources: this.#sources(), isExplained: this.#explain !== undefined };
    // Do not inherit options: the port of a debugger, for example, belongs to the main thread.
    const worker = new Worker(threadEntry, { workerData: data, execArgv: [], name: 'query log' });
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    await new Promise<void>((resolve, reject) => {
      worker.once('error', reject);
      worker.on('message', (report: QueryLogReport) => {
        if (report.kind === 'started') resolve();
        else this.#hear(worker, report);
      });
    }).catch((error: unknown) => {
      this.#break();
      throw error;
    });
    worker.on('error', (error) => {
      log.error('query log ended: internal error', { reason: error.message });
      this.#break();
    });
    this.#isBroken = false;
    this.#running = { worker, ended };
  }

  #hear(worker: Worker, report: QueryLogReport): void {
    switch (report.kind) {
      case 'changed':
        this.#onChanged(report.error);
        return;
      case 'explain':
        void this.#explainTo(worker, report.events);
        return;
      case 'say':
        this.#options.say(report.lines);
        this.#tellDropped();
        worker.postMessage({ kind: 'said' } satisfies QueryLogOrder);
        return;
      case 'failed':
        this.#failures += 1;
        this.#warnings.warn('query log not written', { reason: report.reason });
    }
  }

  #tellDropped(): void {
    const dropped = this.dropped - this.#toldDropped;
    this.#toldDropped += dropped;
    if (dropped > 0)
      this.#warnings.warn('query log incomplete: more queries than lines can be written', { dropped });
  }

  async #explainTo(worker: Worker, events: readonly ExplainedEvent[]): Promise<void> {
    const explanations = (await this.#explain?.(events).catch(() => [])) ?? [];
    worker.postMessage({ kind: 'explained', explanations } satisfies QueryLogOrder);
  }

  #order(order: QueryLogOrder): void {
    this.#running?.worker.postMessage(order);
  }
}
