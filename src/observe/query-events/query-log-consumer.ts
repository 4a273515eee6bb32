/**
 * Turns the events of all rings into lines: drains, sorts by time, selects and formats them.
 */

import type { QueryLogSettings } from '../../config/server/query-log-plan.ts';
import { type QueryEvent, QueryEventReader } from '../../listen/query-events/event-reader.ts';
import { sharedMonotonic } from '../../listen/query-events/event-ring.ts';
import { describeEvent } from './describe-event.ts';
import { EventOrder } from './event-order.ts';
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
}

export class QueryLogConsumer {
  readonly #options: QueryLogConsumerOptions;
  readonly #readers: readonly QueryEventReader[];
  readonly #monotonic: () => number;
  readonly #order = new EventOrder<QueryEvent>(({ received }) => received);
  #settings: QueryLogSettings;
  #isSampled: () => boolean;
  #isSelected: (event: QueryEvent) => boolean;

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
    this.#settings = settings;
    this.#isSampled = sampleEvents(settings, this.#options.random);
    this.#isSelected = selectEvents(settings);
  }

  /** Writes events older than the ordering window. */
  poll(): void {
    this.#drain();
    this.#write(this.#order.release(this.#monotonic()));
  }

  /** Writes all events. */
  finish(): void {
    this.#drain();
    this.#write(this.#order.releaseAll());
  }

  #drain(): void {
    for (const reader of this.#readers) reader.drain((event) => this.#order.add(event), this.#isSampled);
  }

  #write(events: readonly QueryEvent[]): void {
    const offset = this.#options.now() - this.#monotonic();
    let lines = '';
    for (const event of events) {
      if (this.#isSelected(event))
        lines += describeEvent(event, event.received + offset, this.#settings.format);
    }
    if (lines !== '') this.#options.write(lines);
  }
}
