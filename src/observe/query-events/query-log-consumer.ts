/**
 * Turns the events of all rings into lines: drains, sorts by time, selects and formats them.
 */

import type { QueryLogSettings } from '../../config/server/query-log-plan.ts';
import { type QueryEvent, QueryEventReader } from '../../listen/query-events/event-reader.ts';
import { sharedMonotonic } from '../../listen/query-events/event-ring.ts';
import { describeEvent } from './describe-event.ts';
import { EventOrder } from './event-order.ts';
import { copyEvent, type EventExplanation, type ExplainEvents, explanationKey } from './explained-event.ts';
import { sampleEvents, selectEvents } from './selection.ts';

export interface QueryLogConsumerOptions {
  readonly rings: readonly SharedArrayBuffer[];
  readonly settings: QueryLogSettings;
  /** Writes whole lines, including newlines. */
  readonly write: (lines: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The clock of the events, in milliseconds; default: the machine's monotonic clock. */
  readonly monotonic?: () => number;
  /** From 0 up to but excluding 1. */
  readonly random: () => number;
  /** Default: lines have the source that the event names, and no reason. */
  readonly explain?: ExplainEvents | undefined;
}

/** Questions of one request for explanations, and how long these hold and are waited for, in milliseconds. */
const MAX_QUESTIONS = 20;
const KEPT_FOR = 1_000;
const MAX_WAIT = 1_000;

export class QueryLogConsumer {
  readonly #options: QueryLogConsumerOptions;
  readonly #readers: readonly QueryEventReader[];
  readonly #monotonic: () => number;
  readonly #order = new EventOrder<QueryEvent>(({ received }) => received);
  #settings: QueryLogSettings;
  #isSampled: () => boolean;
  #isSelected: (event: QueryEvent) => boolean;
  /** By `explanationKey`. */
  readonly #explanations = new Map<string, EventExplanation>();
  #keptUntil = 0;
  /** Events whose lines wait for explanations, and since when. */
  #waiting: { readonly events: readonly QueryEvent[]; readonly since: number } | undefined;

  constructor(options: QueryLogConsumerOptions) {
    this.#options = options;
    this.#readers = options.rings.map((memory) => new QueryEventReader(memory));
    this.#monotonic = options.monotonic ?? sharedMonotonic();
    this.#settings = options.settings;
    this.#isSampled = sampleEvents(options.settings, options.random);
    this.#isSelected = selectEvents(options.settings);
  }

  /** Logs events by these settings from now on. */
  change(settings: QueryLogSettings): void {
    this.poll();
    this.#writeWaiting();
    this.#settings = settings;
    this.#isSampled = sampleEvents(settings, this.#options.random);
    this.#isSelected = selectEvents(settings);
  }

  /** Writes events older than the ordering window. Those after events that wait for explanations wait too. */
  poll(): void {
    this.#drain();
    const now = this.#monotonic();
    if (this.#waiting !== undefined && now - this.#waiting.since < MAX_WAIT) return;
    this.#writeWaiting();
    this.#take(this.#order.release(now).filter((event) => this.#isSelected(event)));
  }

  /** Whether lines wait for explanations. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Writes all events. */
  finish(): void {
    this.#drain();
    this.#writeWaiting();
    this.#write(this.#order.releaseAll().filter((event) => this.#isSelected(event)));
  }

  #drain(): void {
    for (const reader of this.#readers) reader.drain((event) => this.#order.add(event), this.#isSampled);
  }

  /** Writes events at once if they need no further explanation. */
  #take(events: readonly QueryEvent[]): void {
    const unknown = this.#unknownOf(events);
    const { explain } = this.#options;
    if (unknown.size === 0 || explain === undefined) {
      this.#write(events);
      return;
    }
    const waiting = { events, since: this.#monotonic() };
    this.#waiting = waiting;
    explain([...unknown.values()].map(copyEvent))
      .then((explanations) => {
        for (const [index, key] of [...unknown.keys()].entries()) {
          const explanation = explanations[index];
          if (explanation !== undefined) this.#explanations.set(key, explanation);
        }
      })
      .catch(() => {})
      .finally(() => {
        if (this.#waiting === waiting) this.#writeWaiting();
      });
  }

  /** Questions without an explanation, one event each. */
  #unknownOf(events: readonly QueryEvent[]): ReadonlyMap<string, QueryEvent> {
    const unknown = new Map<string, QueryEvent>();
    if (this.#options.explain === undefined) return unknown;
    const now = this.#monotonic();
    if (now >= this.#keptUntil) {
      this.#explanations.clear();
      this.#keptUntil = now + KEPT_FOR;
    }
    for (const event of events) {
      if (unknown.size >= MAX_QUESTIONS) break;
      const key = explanationKey(event);
      if (!this.#explanations.has(key)) unknown.set(key, event);
    }
    return unknown;
  }

  #writeWaiting(): void {
    const events = this.#waiting?.events ?? [];
    this.#waiting = undefined;
    this.#write(events);
  }

  #write(events: readonly QueryEvent[]): void {
    const offset = this.#options.now() - this.#monotonic();
    const isExplained = this.#explanations.size > 0;
    let lines = '';
    for (const event of events) {
      const explanation = isExplained ? this.#explanations.get(explanationKey(event)) : undefined;
      lines += describeEvent(event, event.received + offset, this.#settings.format, explanation);
    }
    if (lines !== '') this.#options.write(lines);
  }
}
