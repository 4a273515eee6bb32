/**
 * What a server remembers of failures and of changes: bounded memory, and a file that survives a restart.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { HistoryPlan } from '../plan/history-plan.ts';
import { FailureMinute, type FailureRow, type SeenFailure } from './failure-minute.ts';
import { HistoryFile } from './history-file.ts';
import {
  type ChangeRecord,
  cutText,
  type HistoryRecord,
  MAX_ABOUT,
  parseRecord,
  readSpan,
} from './history-record.ts';
import { LineStore } from './line-store.ts';

export interface HistoryDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

/** `at`: milliseconds since 1970; default: now. */
export type SeenChange = Omit<ChangeRecord, 'kind' | 'at'> & { readonly at?: number };

const MINUTE = 60_000;
/** Changes of a minute, and those that are not left to services and endpoints: they change by the thousand. */
const MAX_CHANGES = 1_000;
const KEPT_FOR_OTHERS = 200;
/** Octets of a minute with all its rows, and of events that wait to be read. */
const MINUTE_OCTETS = 4 * 2 ** 20;
/** Lines of a file to read before other work. */
const PART = 500;

export class History {
  readonly plan: HistoryPlan;
  readonly #clock: Clock;
  readonly #store: LineStore;
  readonly #file: HistoryFile | undefined;
  #minute = new FailureMinute();
  #changes = 0;
  #changesLeftOut = 0;
  #since: number;
  #timer: Timer | undefined;

  constructor(plan: HistoryPlan, { clock, log }: HistoryDependencies) {
    this.plan = plan;
    this.#clock = clock;
    this.#store = new LineStore(plan.octets - MINUTE_OCTETS);
    const { file: path, octets } = plan;
    this.#file = path === undefined ? undefined : new HistoryFile({ path, octets, clock, log });
    this.#since = clock.now();
  }

  /** Takes what the file has from before, and begins to close minutes. */
  async start(): Promise<void> {
    this.#closeLater();
    for (const [index, line] of ((await this.#file?.read()) ?? []).entries()) {
      const record = parseRecord(line);
      if (record !== undefined) this.#store.add({ ...readSpan(record), text: line });
      if (index % PART === PART - 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Takes what another one has, whose plan was another. Call it before `start`. */
  inherit(former: History): void {
    this.#since = former.oldest;
    for (const lines of former.#store.read(0, Number.POSITIVE_INFINITY))
      for (const text of lines) {
        const record = parseRecord(text);
        if (record !== undefined) this.#store.add({ ...readSpan(record), text });
      }
  }

  /** Writes what it has. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#closeMinute();
    await this.#file?.stop();
  }

  /** Octets in memory, without the current minute. */
  get octets(): number {
    return this.#store.octets;
  }

  /** What it reaches back to: milliseconds since 1970. */
  get oldest(): number {
    return Math.min(this.#store.oldest ?? this.#since, this.#since);
  }

  /** @returns its row if it is the first of its kind in this minute, for its reason to be found */
  addFailure(failure: SeenFailure): FailureRow | undefined {
    return this.#minute.add(failure);
  }

  /** @param queries that failed, and that nobody saw */
  lose(queries: number): void {
    this.#minute.lose(queries);
  }

  addChange({ at = this.#clock.now(), ...change }: SeenChange): void {
    const isOfMany = change.change === 'service' || change.change === 'endpoints';
    if (this.#changes >= (isOfMany ? MAX_CHANGES - KEPT_FOR_OTHERS : MAX_CHANGES)) {
      this.#changesLeftOut += 1;
      return;
    }
    this.#changes += 1;
    const about = change.about.slice(0, MAX_ABOUT).map(cutText);
    const time = new Date(at).toISOString();
    this.#keep([{ kind: 'change', at: time, ...change, sentence: cutText(change.sentence), about }]);
  }

  /**
   * The records of these times, with those of the current minute; not in order.
   *
   * @param from milliseconds since 1970, as `to`
   */
  async *read(from: number, to: number): AsyncIterable<HistoryRecord> {
    yield { kind: 'reach', from: new Date(this.oldest).toISOString() };
    const current = [...this.#minute.records(this.plan.names), ...this.#listLeftOut()];
    const isIn = (record: HistoryRecord) => {
      const span = readSpan(record);
      return span.from <= to && span.to >= from;
    };
    for (const lines of this.#store.read(from, to)) {
      for (const line of lines) {
        const record = parseRecord(line);
        if (record !== undefined && isIn(record)) yield record;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    yield* current.filter(isIn);
  }

  #closeLater(): void {
    const left = MINUTE - (this.#clock.now() % MINUTE);
    this.#timer = this.#clock.after(left, () => {
      this.#closeMinute();
      this.#closeLater();
    });
  }

  #closeMinute(): void {
    this.#keep([...this.#minute.records(this.plan.names), ...this.#listLeftOut()]);
    this.#minute = new FailureMinute();
    this.#changes = 0;
    this.#changesLeftOut = 0;
  }

  #listLeftOut(): readonly HistoryRecord[] {
    const queries = this.#minute.leftOut;
    const changes = this.#changesLeftOut;
    if (queries === 0 && changes === 0) return [];
    const to = this.#clock.now();
    const from = Math.floor((to - 1) / MINUTE) * MINUTE;
    const span = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    return [{ kind: 'left-out', ...span, queries, changes }];
  }

  #keep(records: readonly HistoryRecord[]): void {
    const lines = records.map((record) => ({ ...readSpan(record), text: JSON.stringify(record) }));
    for (const line of lines) this.#store.add(line);
    if (lines.length > 0) this.#file?.append(lines.map(({ text }) => text));
  }
}
