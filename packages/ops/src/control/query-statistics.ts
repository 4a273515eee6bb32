/**
 * Statistics that are always kept (`--stats`): the queries of the last minutes, counted in windows, so that the first table of `top`
 * shows what was before somebody looked.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { EventTap } from '@portolan/kernel/listen/query-events/event-tap.ts';
import { CountedEvents } from './counted-events.ts';
import { subtractCounts } from './search-counts.ts';
import { type CountedQueries, mergeCounts, TopCounts } from './top-counts.ts';

/** Milliseconds of a window, and how many there are: with the current one they show 8 to 10 minutes. */
const WINDOW = 2 * 60_000;
const WINDOWS = 5;
/** Keys of a dimension in a window. */
const ROOM = 512;

export interface KeptCounts extends CountedQueries {
  readonly seconds: number;
  /** Names that search lists made, by the namespace of the pod. */
  readonly searches: ReadonlyMap<string, number>;
}

interface Window {
  readonly counts: TopCounts;
  /** Milliseconds of the monotonic clock. */
  readonly since: number;
  /** The searches counted when it began. */
  readonly searches: ReadonlyMap<string, number>;
}

export interface QueryStatisticsOptions {
  readonly tap: EventTap;
  readonly domain: string;
  /** Whether a label is a namespace now. It is called for many events at once. */
  readonly findNamespaceTest: () => (label: string) => boolean;
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
}

export class QueryStatistics {
  readonly #options: QueryStatisticsOptions;
  readonly #end: () => void;
  /** Newest last. */
  #windows: readonly Window[];
  #timer: Timer;

  constructor(options: QueryStatisticsOptions) {
    const { tap, domain, findNamespaceTest } = options;
    this.#options = options;
    const events = new CountedEvents(domain);
    this.#end = tap.sample((all, lost) => {
      const counts = this.#windows.at(-1)?.counts;
      counts?.lose(lost);
      const isNamespace = findNamespaceTest();
      for (const event of all) {
        const query = events.read(event, isNamespace);
        if (query !== undefined) counts?.add(query, event.weight);
      }
    }, domain);
    this.#windows = [this.#makeWindow()];
    this.#timer = this.#turnLater();
  }

  /** @param rows of each table at most */
  read(rows: number): KeptCounts {
    const { clock, tap } = this.#options;
    const [oldest] = this.#windows;
    return {
      ...mergeCounts(
        this.#windows.map(({ counts }) => counts.read(ROOM)),
        rows,
      ),
      seconds: (clock.monotonic() - (oldest?.since ?? 0)) / 1000,
      searches: subtractCounts(tap.searches, oldest?.searches ?? new Map()),
    };
  }

  stop(): void {
    this.#timer.cancel();
    this.#end();
  }

  #makeWindow(): Window {
    const { clock, tap } = this.#options;
    return { counts: new TopCounts(ROOM), since: clock.monotonic(), searches: new Map(tap.searches) };
  }

  #turnLater(): Timer {
    return this.#options.clock.after(WINDOW, () => {
      this.#windows = [...this.#windows, this.#makeWindow()].slice(-WINDOWS);
      this.#timer = this.#turnLater();
    });
  }
}
