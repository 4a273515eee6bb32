/**
 * Sorts query events of several rings by time: an event waits until earlier events of other rings must have arrived. Their records are copied
 * as they are, so that rings have room and nothing is made of an event that has no line.
 */
import { EventView } from '@portolan/kernel/listen/query-events/event-reader.ts';
import type { EventRecords } from '@portolan/kernel/listen/query-events/event-ring.ts';

/** Milliseconds that an event waits for earlier ones of other rings. */
export const ORDER_WINDOW = 10;

/** Events in the order of time. They are there until others are released. */
export interface OrderedEvents<Tag> {
  readonly count: number;
  /** @returns the same view each time */
  at(index: number): EventView;
  tagAt(index: number): Tag;
}

export class EventOrder<Tag> {
  #waiting = new EventPile<Tag>();
  #released = new EventPile<Tag>();

  /** @param tag that goes with the event */
  add(event: EventView, tag: Tag): void {
    this.#waiting.add(event, tag);
  }

  /**
   * Removes and returns events older than the window, oldest first.
   *
   * @param now on the clock of the events
   * @param bound the time of the latest event before which all are known. Default: the window
   */
  release(now: number, bound = Number.POSITIVE_INFINITY): OrderedEvents<Tag> {
    return this.#releaseUntil(Math.min(now - ORDER_WINDOW, bound));
  }

  /** Removes and returns all events. */
  releaseAll(): OrderedEvents<Tag> {
    return this.#releaseUntil(Number.POSITIVE_INFINITY);
  }

  #releaseUntil(time: number): OrderedEvents<Tag> {
    const released = this.#waiting;
    const waiting = this.#released;
    waiting.clear();
    released.sort();
    const count = released.countUntil(time);
    for (let index = count; index < released.length; index++)
      waiting.add(released.at(index), released.tagAt(index));
    this.#waiting = waiting;
    this.#released = released;
    return { count, at: (index) => released.at(index), tagAt: (index) => released.tagAt(index) };
  }
}

const FIRST_OCTETS = 2 ** 16;

/** Records one behind the other. */
class EventPile<Tag> {
  #records = makeEventRecords(FIRST_OCTETS);
  #event = new EventView(this.#records);
  #end = 0;
  #isSorted = true;
  #latest = Number.NEGATIVE_INFINITY;
  /** The events in their order: their numbers, by which the others are indexed. */
  #order: number[] = [];
  #places: number[] = [];
  #times: number[] = [];
  #tags: Tag[] = [];

  get length(): number {
    return this.#order.length;
  }

  clear(): void {
    this.#end = 0;
    this.#isSorted = true;
    this.#latest = Number.NEGATIVE_INFINITY;
    this.#order = [];
    this.#places = [];
    this.#times = [];
    this.#tags = [];
  }

  add(event: EventView, tag: Tag): void {
    const { received } = event;
    const place = this.#end;
    this.#reserve(event.recordOctets);
    this.#end += event.copyRecord(this.#records.words, place >> 2);
    this.#order.push(this.#places.length);
    this.#places.push(place);
    this.#times.push(received);
    this.#tags.push(tag);
    if (received < this.#latest) this.#isSorted = false;
    this.#latest = received;
  }

  sort(): void {
    if (this.#isSorted) return;
    const times = this.#times;
    this.#order.sort((one, other) => (times[one] ?? 0) - (times[other] ?? 0));
  }

  /** How many of the sorted events are not later. */
  countUntil(time: number): number {
    let count = this.#order.length;
    while (count > 0 && (this.#times[this.#order[count - 1] ?? 0] ?? 0) > time) count -= 1;
    return count;
  }

  at(index: number): EventView {
    return this.#event.moveTo(this.#places[this.#order[index] ?? 0] ?? 0);
  }

  tagAt(index: number): Tag {
    // It is one that was added, and may be undefined itself.
    return this.#tags[this.#order[index] ?? 0] as Tag;
  }

  #reserve(octets: number): void {
    const { length } = this.#records.octets;
    if (this.#end + octets <= length) return;
    const larger = makeEventRecords(2 * (length + octets));
    larger.octets.set(this.#records.octets);
    this.#records = larger;
    this.#event = new EventView(larger);
  }
}

/** @param octets a multiple of 8 */
function makeEventRecords(octets: number): EventRecords {
  const memory = new ArrayBuffer(octets);
  return {
    words: new Uint32Array(memory),
    octets: new Uint8Array(memory),
    doubles: new Float64Array(memory),
  };
}
