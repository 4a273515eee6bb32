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
  overlaps,
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

export class History {
  readonly plan: HistoryPlan;
  readonly #clock: Clock;
  #store: LineStore;
  readonly #file: HistoryFile | undefined;
  #minute = new FailureMinute();
  #changes = 0;
  #changesLeftOut = 0;
  #since: number;
  #timer: Timer | undefined;

  constructor(plan: HistoryPlan, { clock, log }: HistoryDependencies) {
    this.plan = plan;
    this.#clock = clock;
    this.#store = makeStore(plan);
    const { file: path, octets } = plan;
    this.#file = path === undefined ? undefined : new HistoryFile({ path, octets, clock, log });
    this.#since = clock.now();
  }

  /**
   * Takes what was before, and begins to close minutes.
   *
   * @param former one whose plan was another; it has stopped
   */
  async start(former?: History): Promise<void> {
    this.#closeLater();
    const store = makeStore(this.plan);
    // What the former one has of its file is in its memory.
    if (this.#file !== undefined && former?.plan.file !== this.plan.file)
      for await (const line of this.#file.read()) takeLine(store, line, former?.oldest);
    this.#file?.open();
    if (former !== undefined) await takeStore(store, former.#store);
    // The oldest lines go first.
    for (const line of [...this.#store.read(0, Number.POSITIVE_INFINITY)].flat()) takeLine(store, line);
    this.#store = store;
    this.#since = Math.min(this.#since, former?.oldest ?? this.#since);
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

  /** What it reaches back to: milliseconds since 1970. Of an earlier time, it may have lost all. */
  get oldest(): number {
    const { oldest = this.#since, lostUntil = 0 } = this.#store;
    return Math.max(lostUntil, Math.min(oldest, this.#since));
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
    const isIn = (record: HistoryRecord) => overlaps(readSpan(record), { from, to });
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

function makeStore({ octets }: HistoryPlan): LineStore {
  return new LineStore(octets - MINUTE_OCTETS);
}

/** @param before milliseconds since 1970: lines of later times are left out */
function takeLine(store: LineStore, text: string, before = Number.POSITIVE_INFINITY): void {
  const record = parseRecord(text);
  const span = record && readSpan(record);
  if (span !== undefined && span.to < before) store.add({ ...span, text });
}

async function takeStore(store: LineStore, former: LineStore): Promise<void> {
  if (former.lostUntil !== undefined) store.lose(former.lostUntil);
  for (const lines of former.read(0, Number.POSITIVE_INFINITY)) {
    for (const line of lines) takeLine(store, line);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
