/**
 * Watches the events of all threads beside the log that consumes them, while somebody is interested.
 *
 * A ring has one consumer. If it has none, the tap takes events out; otherwise it reads them and leaves them there. Then it may come
 * too late, so it checks after each event that the writer has not come so far, and otherwise counts the events as lost.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import { copyEvent, EventView, type QueryEvent } from './event-reader.ts';
import { CONTROL, EVENT_MODE, type EventRingViews, FLAG, viewEventRing, WORD } from './event-ring.ts';
import type { QueryEventRings } from './event-rings.ts';
import { EventSampling } from './event-sampling.ts';
import { SearchTotals } from './search-totals.ts';

/** @param lost events since the last call that nobody saw, at least so many */
export type TapListener = (events: readonly QueryEvent[], lost: number) => void;

/** Milliseconds between two readings. */
const INTERVAL = 50;
/** The same while only failures are wanted: a server without traffic rests. */
const FAILURE_INTERVAL = 1_000;
/** Events of one ring in one reading; the main thread has other work. */
const MAX_EVENTS = 2_000;
/** Octets that a writer may fill before it publishes them: the largest batch with whole responses. */
const MARGIN = 2 ** 20;
/** The same while it writes failures, without their responses. */
const FAILURE_MARGIN = 2 ** 16;

export class EventTap {
  readonly #rings: () => readonly QueryEventRings[];
  readonly #clock: Clock;
  readonly #listeners = new Set<TapListener>();
  /** Those that want all events. */
  readonly #whole = new Set<TapListener>();
  /** Those for which events of failures are enough. */
  readonly #failures = new Set<TapListener>();
  readonly #searches = new SearchTotals();
  #sampling: EventSampling;
  readonly #readers = new Map<SharedArrayBuffer, TappedRing>();
  #tapped: readonly QueryEventRings[] = [];
  #timer: Timer | undefined;

  /** @param rings the current ones */
  constructor(rings: () => readonly QueryEventRings[], clock: Clock) {
    this.#rings = rings;
    this.#clock = clock;
    this.#sampling = new EventSampling(clock.monotonic());
  }

  /** Calls a listener with all events from now on. @returns a function that ends it */
  follow(listener: TapListener): () => void {
    return this.#add(listener, this.#whole);
  }

  /**
   * Calls a listener with events from now on that represent all queries, each as many as its weight. Meanwhile the names that search
   * lists make are counted.
   *
   * @param domain of the cluster
   * @returns a function that ends it
   */
  sample(listener: TapListener, domain: string): () => void {
    this.#searches.begin(domain);
    const end = this.#add(listener);
    return () => {
      end();
      if (this.#listeners.size === this.#whole.size) this.#stopSearches();
    };
  }

  /** Of the names that search lists made while events were sampled, by namespace. The empty name: namespaces beyond a bound. */
  get searches(): ReadonlyMap<string, number> {
    this.#searches.collect(this.#memories());
    return this.#searches.totals;
  }

  /** How many queries an event stands for at most; undefined: there are no events. */
  get sampling(): number | undefined {
    if (!this.#isWatched) return undefined;
    return this.#whole.size > 0 ? 1 : this.#sampling.weight;
  }

  /**
   * Calls a listener with the events of failed and of slow answers from now on, those of names that search lists make left out. While
   * others watch, it gets the events that they want.
   *
   * @param domain of the cluster
   * @returns a function that ends it
   */
  followFailures(listener: TapListener, domain: string): () => void {
    this.#searches.begin(domain);
    return this.#add(listener, this.#failures);
  }

  /** @param kind the listeners that want as much; undefined: those that want a sample */
  #add(listener: TapListener, kind?: Set<TapListener>): () => void {
    // Earlier events are for the other listeners alone.
    if (this.#listeners.size > 0) this.#poll();
    this.#listeners.add(listener);
    kind?.add(listener);
    if (this.#listeners.size === 1) this.#begin();
    else this.#apply();
    // The next reading may be too late for a listener that wants more.
    this.#pollLater();
    return () => {
      this.#listeners.delete(listener);
      this.#whole.delete(listener);
      this.#failures.delete(listener);
      if (this.#listeners.size === 0) this.#end();
      else this.#apply();
    };
  }

  /** Whether somebody wants more than failures. */
  get #isWatched(): boolean {
    return this.#listeners.size > this.#failures.size;
  }

  #pollLater(): void {
    this.#timer?.cancel();
    const interval = this.#isWatched ? INTERVAL : FAILURE_INTERVAL;
    this.#timer = this.#clock.after(interval, () => this.#poll());
  }

  #begin(): void {
    this.#sampling = new EventSampling(this.#clock.monotonic());
    this.#renew();
  }

  #end(): void {
    this.#timer?.cancel();
    for (const rings of this.#tapped) rings.setTapped(EVENT_MODE.OFF);
    this.#tapped = [];
    this.#readers.clear();
  }

  #stopSearches(): void {
    this.#searches.end(this.#memories());
  }

  /** Groups of listeners come and go. */
  #renew(): void {
    const now = this.#rings();
    for (const rings of this.#tapped) if (!now.includes(rings)) rings.setTapped(EVENT_MODE.OFF);
    const added = now.filter((rings) => !this.#tapped.includes(rings));
    for (const rings of added)
      for (const memory of rings.all) this.#readers.set(memory, new TappedRing(memory));
    this.#tapped = now;
    if (added.length > 0) this.#apply();
  }

  /** Lets the threads write what somebody wants. */
  #apply(): void {
    const sampling = this.#whole.size > 0 ? 0 : this.#sampling.word;
    const mode = this.#isWatched ? EVENT_MODE.QUERIES : EVENT_MODE.FAILURES;
    for (const rings of this.#tapped) rings.setTapped(mode, sampling);
    this.#searches.countIn(this.#memories());
  }

  #memories(): readonly SharedArrayBuffer[] {
    return this.#rings().flatMap(({ all }) => all);
  }

  #poll(): void {
    this.#renew();
    const events: QueryEvent[] = [];
    let lost = 0;
    for (const rings of this.#tapped)
      for (const memory of rings.all)
        lost += this.#readers.get(memory)?.read(events, !rings.hasConsumer) ?? 0;
    const queries = events.reduce((sum, { weight }) => sum + weight, lost);
    if (this.#sampling.note(events.length + lost, queries, this.#clock.monotonic())) this.#apply();
    events.sort((one, other) => one.received - other.received);
    if (events.length > 0 || lost > 0) for (const listener of this.#listeners) listener(events, lost);
    if (this.#listeners.size > 0) this.#pollLater();
  }
}

/** One ring, read from where it was when the tap began. */
export class TappedRing {
  readonly #views: EventRingViews;
  readonly #event: EventView;
  #position: number;
  #dropped: number;

  constructor(memory: SharedArrayBuffer) {
    this.#views = viewEventRing(memory);
    this.#event = new EventView(this.#views);
    const { control } = this.#views;
    this.#position = Atomics.load(control, CONTROL.TAIL);
    this.#dropped = Atomics.load(control, CONTROL.DROPPED);
  }

  /** @param isConsumer whether to take the events out @returns how many events were lost at least */
  read(events: QueryEvent[], isConsumer: boolean, max = MAX_EVENTS): number {
    const { control, words, octets } = this.#views;
    const tail = Atomics.load(control, CONTROL.TAIL);
    let taken = 0;
    let lost = this.#countDropped();
    while (this.#position !== tail) {
      if (!this.#isIntact(isConsumer)) {
        // Where the consumer is, an event begins.
        this.#position = Atomics.load(control, CONTROL.HEAD);
        return lost + 1;
      }
      const at = this.#position & (octets.length - 1);
      const size = words[at >> 2] ?? 0;
      const isEvent = size !== 0 && ((words[(at >> 2) + WORD.FLAGS] ?? 0) & FLAG.NOTE) === 0;
      const event = isEvent && taken < max ? copyEvent(this.#event.moveTo(at)) : undefined;
      if (!this.#isIntact(isConsumer)) continue;
      if (event !== undefined) events.push(event);
      else if (isEvent) lost += 1;
      taken += event === undefined ? 0 : 1;
      this.#position = (this.#position + (size === 0 ? octets.length - at : size)) | 0;
    }
    if (isConsumer) Atomics.store(control, CONTROL.HEAD, this.#position);
    return lost;
  }

  /** Whether the writer cannot have reached this position again. A consumer holds it back. */
  #isIntact(isConsumer: boolean): boolean {
    const { control, octets } = this.#views;
    const tail = Atomics.load(control, CONTROL.TAIL);
    const margin = control[CONTROL.MODE] === EVENT_MODE.FAILURES ? FAILURE_MARGIN : MARGIN;
    return isConsumer || (tail - this.#position) >>> 0 <= octets.length - margin;
  }

  #countDropped(): number {
    const dropped = Atomics.load(this.#views.control, CONTROL.DROPPED);
    const lost = (dropped - this.#dropped) >>> 0;
    this.#dropped = dropped;
    return lost;
  }
}
