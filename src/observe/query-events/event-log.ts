/**
 * A log that the main thread writes: readers write an event for each answer to rings, which are read here every few milliseconds, and the
 * main thread adds what it answers itself. Entries of both are written in the order of time. How they are written is up to the caller.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import type { QueryEvent, QueryEventReader } from '../../listen/query-events/event-reader.ts';
import { sharedMonotonic } from '../../listen/query-events/event-ring.ts';
import { EventOrder, ORDER_WINDOW } from './event-order.ts';

export interface EventLogOptions<Entry> {
  readonly clock: Clock;
  /** By the clock of events, in milliseconds. */
  readonly timeOf: (entry: Entry) => number;
  readonly write: (entries: readonly Entry[]) => void;
  /** Called when events were lost, since their ring was full. @param since the last call @param all so far */
  readonly dropped: (since: number, all: number) => void;
}

export interface EventSource<Entry> {
  readonly readers: readonly QueryEventReader[];
  /** Undefined: the event is not logged. */
  entryOf(event: QueryEvent): Entry | undefined;
}

/** The most events of a ring to log before the main thread does other work. */
const EVENTS_PER_TURN = 200;

export class EventLog<Entry> {
  readonly #options: EventLogOptions<Entry>;
  readonly #sources = new Set<EventSource<Entry>>();
  readonly #order: EventOrder<Entry>;
  readonly #monotonic = sharedMonotonic();
  #timer: Timer | undefined;
  #dropped = 0;

  constructor(options: EventLogOptions<Entry>) {
    this.#options = options;
    this.#order = new EventOrder(options.timeOf);
  }

  /** Now, by the clock of events. */
  now(): number {
    return this.#monotonic();
  }

  add(entry: Entry): void {
    this.#order.add(entry);
  }

  follow(source: EventSource<Entry>): void {
    this.#sources.add(source);
  }

  /** Writes the remaining lines, and stops following the source. */
  leave(source: EventSource<Entry>): void {
    this.writeAll();
    this.#sources.delete(source);
  }

  /** Takes all events as the sources say now, before they say otherwise. */
  takeAll(): void {
    this.#drain(Number.POSITIVE_INFINITY);
  }

  writeAll(): void {
    this.takeAll();
    this.#options.write(this.#order.releaseAll());
  }

  /** Writes pending entries of readers, some at a time, before an entry that must come behind them. */
  catchUp(): void {
    if (this.#timer === undefined) return;
    this.#drain(EVENTS_PER_TURN);
    this.#options.write(this.#order.releaseAll());
  }

  /** Reads the rings from now on. */
  start(): void {
    this.#timer?.cancel();
    this.#pollIn(ORDER_WINDOW);
  }

  rest(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #pollIn(milliseconds: number): void {
    this.#timer = this.#options.clock.after(milliseconds, () => {
      const isBehind = this.#drain(EVENTS_PER_TURN);
      this.#options.write(this.#order.release(this.#monotonic()));
      this.#reportDrops();
      this.#pollIn(isBehind ? 0 : ORDER_WINDOW);
    });
  }

  /** @returns whether there may be more */
  #drain(max: number): boolean {
    let mayBeMore = false;
    for (const { readers, entryOf } of this.#sources) {
      const take = (event: QueryEvent) => {
        const entry = entryOf(event);
        if (entry !== undefined) this.#order.add(entry);
      };
      for (const reader of readers) {
        const isMore = reader.drain(take, undefined, max);
        mayBeMore ||= isMore;
      }
    }
    return mayBeMore;
  }

  #reportDrops(): void {
    let dropped = 0;
    for (const { readers } of this.#sources) for (const reader of readers) dropped += reader.dropped;
    if (dropped > this.#dropped) this.#options.dropped(dropped - this.#dropped, dropped);
    this.#dropped = dropped;
  }
}
