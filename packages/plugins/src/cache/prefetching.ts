/**
 * Prefetches popular answers shortly before they expire, so that no client has to wait for them.
 *
 * Once a second the cache is searched, in parts, with other work between them.
 */
import { decodeName } from '@portolan/dns/name-wire.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { createInternalQuery } from '@portolan/kernel/chain/internal-query.ts';
import type { Query, QuerySite } from '@portolan/kernel/chain/query.ts';
import { isWorthPrefetching } from '@portolan/kernel/forward/caching/expiry.ts';
import type { QuestionKey } from '@portolan/kernel/forward/question-key.ts';
import { QuestionTable } from '@portolan/kernel/forward/question-table.ts';
import type { CachedEntry } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';

export interface PrefetchingOptions {
  readonly table: Pick<TableWriter, 'scanCached'>;
  /** Asks again and caches the answer. */
  readonly refresh: (query: Query) => Promise<void>;
  /** Where queries count. Default: nowhere. */
  readonly site?: () => QuerySite | undefined;
  readonly clock: Clock;
}

const SWEEP_MILLISECONDS = 1_000;
/** Milliseconds between two parts of a sweep. */
const PAUSE_MILLISECONDS = 5;
/** Entries scanned without a pause, in a fraction of a millisecond. */
const PART = 5_000;
/** Maximum number of prefetches in flight: clients' own questions come first. */
const MAX_UNDER_WAY = 64;

interface Prefetch {
  readonly question: QuestionKey;
  nextInChain: Prefetch | undefined;
}

export class Prefetching {
  readonly #options: PrefetchingOptions;
  readonly #underWay = new QuestionTable<Prefetch>(MAX_UNDER_WAY);
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: PrefetchingOptions) {
    this.#options = options;
  }

  start(): void {
    this.#sweepAfter(SWEEP_MILLISECONDS, 0);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #sweepAfter(milliseconds: number, from: number): void {
    if (!this.#isStopped) this.#timer = this.#options.clock.after(milliseconds, () => this.#sweep(from));
  }

  #sweep(from: number): void {
    const { table, clock } = this.#options;
    const now = Math.floor(clock.monotonic() / 1000);
    // A test without reading the answer: at most a tenth of its lifetime is left.
    const { found, next } = table.scanCached(from, PART, (stored, expires) => {
      const left = expires - now;
      return left > 0 && left * 10 <= expires - stored;
    });
    for (const entry of found) if (isWorthPrefetching(entry, now)) this.#prefetch(entry);
    this.#sweepAfter(next === 0 ? SWEEP_MILLISECONDS : PAUSE_MILLISECONDS, next);
  }

  #prefetch(entry: CachedEntry): void {
    const { name, type, class: dnsClass } = entry;
    const query = createInternalQuery(
      { name: decodeName(name), type, class: dnsClass },
      entry,
      this.#options.site?.(),
    );
    const prefetch: Prefetch = { question: query.questionKey, nextInChain: undefined };
    if (this.#underWay.size >= MAX_UNDER_WAY || this.#underWay.find(prefetch.question) !== undefined) return;
    this.#underWay.add(prefetch);
    const end = () => void this.#underWay.remove(prefetch);
    this.#options.refresh(query).then(end, end);
  }
}
