/**
 * Turns the events and notes of all rings into lines: drains, sorts by time, selects and formats them. Events may have a line of the
 * query log, and lines of the server's own log.
 */

import type { QueryLogSettings } from '../../config/server/query-log-plan.ts';
import { type QueryEvent, QueryEventReader } from '../../listen/query-events/event-reader.ts';
import { sharedMonotonic } from '../../listen/query-events/event-ring.ts';
import { CoreDnsLines } from './coredns-lines.ts';
import { describeEvent } from './describe-event.ts';
import { DnsmasqLines } from './dnsmasq-lines.ts';
import type { EventLines, LineRules, QueryLine } from './event-lines.ts';
import { EventOrder } from './event-order.ts';
import { copyEvent, type EventExplanation, type ExplainEvents, explanationKey } from './explained-event.ts';
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
  /** Writes whole lines of the query log, including newlines. */
  readonly write: (lines: string) => void;
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
/** Events of a ring that are taken out together. Few do not outlive a collection of garbage, which is most of the cost of many. */
const CHUNK = 500;
/** In one poll, so that the thread hears its orders. */
const MAX_CHUNKS = 40;

interface FollowedRing {
  readonly reader: QueryEventReader;
  readonly lines: EventLines | undefined;
}

interface Entry {
  readonly event: QueryEvent;
  readonly lines: EventLines | undefined;
}

interface QueryLogRules {
  readonly settings: QueryLogSettings;
  readonly isSampled: () => boolean;
  readonly isSelected: (event: QueryEvent) => boolean;
}

export class QueryLogConsumer {
  readonly #options: QueryLogConsumerOptions;
  readonly #monotonic: () => number;
  readonly #order = new EventOrder<Entry>(({ event }) => event.received);
  #rings: readonly FollowedRing[] = [];
  #rules: QueryLogRules | undefined;
  /** By `explanationKey`. */
  readonly #explanations = new Map<string, EventExplanation>();
  #keptUntil = 0;
  /** Events whose lines wait for explanations, and since when. */
  #waiting: { readonly events: readonly QueryEvent[]; readonly since: number } | undefined;

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
    return { settings, isSampled, isSelected: selectEvents(settings) };
  }

  /** @param max events of each ring @returns the time before which all events are taken out; infinite: all are */
  #drain(max: number): number {
    let bound = Number.POSITIVE_INFINITY;
    for (const { reader, lines } of this.#rings) {
      // The sample is drawn before an event is read, since that is most of its cost, unless it may have other lines.
      const isWanted = lines === undefined ? this.#rules?.isSampled : undefined;
      let last = Number.NEGATIVE_INFINITY;
      const isMore = reader.drain(
        (event) => {
          last = event.received;
          this.#order.add({ event, lines });
        },
        isWanted,
        max,
      );
      if (isMore) bound = Math.min(bound, last);
    }
    return bound;
  }

  #take(entries: readonly Entry[], explains: boolean): void {
    this.#say(entries);
    const rules = this.#rules;
    if (rules === undefined) return;
    const events = entries
      .filter(({ event, lines }) => event.note === undefined && (lines === undefined || rules.isSampled()))
      .map(({ event }) => event)
      .filter((event) => rules.isSelected(event));
    if (explains) this.#explain(events);
    else this.#write(events);
  }

  #say(entries: readonly Entry[]): void {
    const said: QueryLine[] = [];
    let joined: string[] = [];
    let separator = '';
    // One text costs less than its lines on the way to the main thread.
    const flush = (): void => {
      if (joined.length > 0) said.push(joined.join(separator));
      joined = [];
    };
    for (const { event, lines } of entries) {
      if (lines === undefined) continue;
      separator = lines.separator;
      const own = event.note === undefined ? lines.ofEvent(event) : [lines.ofNote(event.note)];
      for (const line of own) {
        if (typeof line === 'string') joined.push(line);
        else {
          flush();
          said.push(line);
        }
      }
    }
    flush();
    if (said.length > 0) this.#options.say?.(said);
  }

  /** Writes events at once if they need no further explanation. */
  #explain(events: readonly QueryEvent[]): void {
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
    if (this.#rules === undefined) return;
    const { format } = this.#rules.settings;
    const offset = this.#options.now() - this.#monotonic();
    const isExplained = this.#explanations.size > 0;
    let lines = '';
    for (const event of events) {
      const explanation = isExplained ? this.#explanations.get(explanationKey(event)) : undefined;
      lines += describeEvent(event, event.received + offset, format, explanation);
    }
    if (lines !== '') this.#options.write(lines);
  }
}

function compileLines(rules: LineRules): EventLines {
  return rules.kind === 'coredns' ? new CoreDnsLines(rules.zones) : new DnsmasqLines(rules.isNumbered);
}
