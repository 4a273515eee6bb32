/**
 * Turns the events and notes of all rings into lines: drains, sorts by time, selects and formats them. Events may have a line of the
 * query log, and lines of the server's own log.
 */
import { type EventView, QueryEventReader } from '@portolan/kernel/listen/query-events/event-reader.ts';
import { sharedMonotonic } from '@portolan/kernel/listen/query-events/event-ring.ts';
import type { QueryLogSettings } from '../../plan/query-log-plan.ts';
import { CoreDnsLines } from './coredns-lines.ts';
import { DnsmasqLines } from './dnsmasq-lines.ts';
import { EventFormat } from './event-format.ts';
import { type EventLines, LineCollector, type LineRules, type QueryLine } from './event-lines.ts';
import { EventOrder, type OrderedEvents } from './event-order.ts';
import {
  copyExplained,
  type EventExplanation,
  type ExplainEvents,
  type ExplainedEvent,
  explanationKey,
} from './explained-event.ts';
import { sampleEvents, selectEvents } from './selection.ts';

/** A ring, and the rules for lines of the server's own log; undefined: it has none. */
export interface EventSource {
  readonly memory: SharedArrayBuffer;
  readonly lines: LineRules | undefined;
}

export interface QueryLogConsumerOptions {
  readonly sources: readonly EventSource[];
  /** Undefined: there is no query log. */
  readonly settings: QueryLogSettings | undefined;
  /** Writes whole lines of the query log, including newlines. The buffer is reused after the call. */
  readonly write: (lines: Uint8Array) => void;
  /** Writes lines of the server's own log. */
  readonly say?: (lines: readonly QueryLine[]) => void;
  /** Whether it has written most of these lines; until then, events stay in their rings. Default: at once. */
  readonly hasSaid?: () => boolean;
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
/** Events of a ring that are taken out together. */
const CHUNK = 500;
/** In one poll, so that the thread hears its orders. */
const MAX_CHUNKS = 40;

interface FollowedRing {
  readonly reader: QueryEventReader;
  readonly lines: EventLines | undefined;
}

/** With the rules of their lines. */
type Events = OrderedEvents<EventLines | undefined>;

interface QueryLogRules {
  readonly format: EventFormat;
  readonly isSampled: () => boolean;
  readonly isSelected: (event: EventView) => boolean;
}

/** Events that have a line of the query log. */
interface SelectedEvents {
  readonly events: Events;
  readonly indices: readonly number[];
}

export class QueryLogConsumer {
  readonly #options: QueryLogConsumerOptions;
  readonly #monotonic: () => number;
  readonly #order = new EventOrder<EventLines | undefined>();
  readonly #said = new LineCollector();
  #rings: readonly FollowedRing[] = [];
  #rules: QueryLogRules | undefined;
  /** By `explanationKey`. */
  readonly #explanations = new Map<string, EventExplanation>();
  #keptUntil = 0;
  /** Events whose lines wait for explanations, and since when. */
  #waiting: { readonly selected: SelectedEvents; readonly since: number } | undefined;

  constructor(options: QueryLogConsumerOptions) {
    this.#options = options;
    this.#monotonic = options.monotonic ?? sharedMonotonic();
    this.#rules = this.#compile(options.settings);
    this.follow(options.sources);
  }

  /** Reads these rings from now on. The events of the former ones, so far, have lines by the former rules. */
  follow(sources: readonly EventSource[]): void {
    this.#drain(Number.POSITIVE_INFINITY);
    // Rings with the same rules share the numbers of queries.
    const compiled = new Map<LineRules, EventLines>();
    this.#rings = sources.map(({ memory, lines }) => {
      if (lines !== undefined && !compiled.has(lines)) compiled.set(lines, compileLines(lines));
      return { reader: new QueryEventReader(memory), lines: lines && compiled.get(lines) };
    });
  }

  /** Logs events by these settings from now on. */
  change(settings: QueryLogSettings | undefined): void {
    this.finish();
    this.#rules = this.#compile(settings);
  }

  /** Writes events older than the ordering window. Those after events that wait for explanations stay in their rings. */
  poll(): void {
    for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
      const now = this.#monotonic();
      if (this.#options.hasSaid?.() === false) return;
      if (this.#waiting !== undefined && now - this.#waiting.since < MAX_WAIT) return;
      this.#writeWaiting();
      const bound = this.#drain(CHUNK);
      this.#take(this.#order.release(now, bound), true);
      if (bound === Number.POSITIVE_INFINITY) return;
    }
  }

  /** Whether lines wait for explanations. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Writes all events. */
  finish(): void {
    this.#drain(Number.POSITIVE_INFINITY);
    this.#writeWaiting();
    this.#take(this.#order.releaseAll(), false);
  }

  #compile(settings: QueryLogSettings | undefined): QueryLogRules | undefined {
    if (settings === undefined) return undefined;
    const isSampled = sampleEvents(settings, this.#options.random);
    return { format: new EventFormat(settings.format), isSampled, isSelected: selectEvents(settings) };
  }

  /** @param max events of each ring @returns the time before which all events are taken out; infinite: all are */
  #drain(max: number): number {
    let bound = Number.POSITIVE_INFINITY;
    for (const { reader, lines } of this.#rings) {
      // Samples before it reads an event, since reading is most of the cost. Rings with lines need every event.
      const isWanted = lines === undefined ? this.#rules?.isSampled : undefined;
      let last = Number.NEGATIVE_INFINITY;
      const isMore = reader.drain(
        (event) => {
          last = event.received;
          this.#order.add(event, lines);
        },
        isWanted,
        max,
      );
      if (isMore) bound = Math.min(bound, last);
    }
    return bound;
  }

  #take(events: Events, explains: boolean): void {
    this.#say(events);
    const rules = this.#rules;
    if (rules === undefined) return;
    const indices: number[] = [];
    for (let index = 0; index < events.count; index++) {
      const event = events.at(index);
      const isDrawn = !event.isNote && (events.tagAt(index) === undefined || rules.isSampled());
      if (isDrawn && rules.isSelected(event)) indices.push(index);
    }
    const selected = { events, indices };
    if (explains) this.#explain(selected);
    else this.#write(selected);
  }

  #say(events: Events): void {
    for (let index = 0; index < events.count; index++) {
      const lines = events.tagAt(index);
      if (lines === undefined) continue;
      const event = events.at(index);
      this.#said.separateBy(lines.separator);
      if (event.isNote) lines.addNote(event, this.#said);
      else lines.addEvent(event, this.#said);
    }
    const said = this.#said.take();
    if (said.length > 0) this.#options.say?.(said);
  }

  /** Writes events at once if they need no further explanation. */
  #explain(selected: SelectedEvents): void {
    const unknown = this.#listUnexplained(selected);
    const { explain } = this.#options;
    if (unknown.size === 0 || explain === undefined) {
      this.#write(selected);
      return;
    }
    const waiting = { selected, since: this.#monotonic() };
    this.#waiting = waiting;
    explain([...unknown.values()])
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
  #listUnexplained({ events, indices }: SelectedEvents): ReadonlyMap<string, ExplainedEvent> {
    const unknown = new Map<string, ExplainedEvent>();
    if (this.#options.explain === undefined) return unknown;
    const now = this.#monotonic();
    if (now >= this.#keptUntil) {
      this.#explanations.clear();
      this.#keptUntil = now + KEPT_FOR;
    }
    for (const index of indices) {
      if (unknown.size >= MAX_QUESTIONS) break;
      const event = events.at(index);
      const key = explanationKey(event);
      if (!this.#explanations.has(key) && !unknown.has(key)) unknown.set(key, copyExplained(event));
    }
    return unknown;
  }

  #writeWaiting(): void {
    const selected = this.#waiting?.selected;
    this.#waiting = undefined;
    if (selected !== undefined) this.#write(selected);
  }

  #write({ events, indices }: SelectedEvents): void {
    if (this.#rules === undefined) return;
    const { format } = this.#rules;
    const offset = this.#options.now() - this.#monotonic();
    const isExplained = this.#explanations.size > 0;
    for (const index of indices) {
      const event = events.at(index);
      const explanation = isExplained ? this.#explanations.get(explanationKey(event)) : undefined;
      format.add(event, event.received + offset, explanation);
    }
    const lines = format.take();
    if (lines.length > 0) this.#options.write(lines);
  }
}

function compileLines(rules: LineRules): EventLines {
  return rules.kind === 'coredns' ? new CoreDnsLines(rules.zones) : new DnsmasqLines(rules.isNumbered);
}
