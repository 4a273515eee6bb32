/**
 * Adds readers' answers for server blocks to the metrics of the handlers that they answer for.
 *
 * Each outcome has a meaning: the handler named as the maker of the answer, and the counts of all handlers that it passed.
 * Readers count by outcome; the growth since the last time is added here to the families of these handlers.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { MetricRegistry } from '../../base/metrics/registry.ts';
import type { HandlerCount } from '../../chain/handler-counts.ts';
import { QueryMetrics } from '../../chain/query-metrics.ts';
import type { AnswerGroup, QueriesOfOutcome, QueryCounts } from '../../table/counter-sums.ts';
import { OutcomeRanges } from '../../table/outcomes.ts';
import { VIEW_PATHS } from '../../table/types.ts';

/** The metrics that answers of an outcome add to. */
export interface OutcomeMeaning {
  /** The handler named as their maker. */
  readonly plugin: string;
  /** Counts of all handlers that they passed. */
  readonly counts: readonly HandlerCount[];
}

/** The zone of counted queries. */
export interface CountedZone {
  readonly server: string;
  readonly zone: NameKey;
  /** The name of the block's view; empty: none. */
  readonly view: string;
  /** Whether its block counts queries: it has `prometheus`. */
  readonly isCounted: boolean;
}

/** Consecutive outcomes of a zone. */
interface OutcomeRange {
  zone: CountedZone;
  readonly first: number;
  /** Under the current plan. */
  meanings: readonly OutcomeMeaning[];
}

/** By transport and family, as readers count them. */
const PATHS = [
  { proto: 'udp', family: '1' },
  { proto: 'udp', family: '2' },
  { proto: 'tcp', family: '1' },
  { proto: 'tcp', family: '2' },
] as const;
/** The outcomes of the entries of one cache, the same for all zones that read it: entries carry their numbers. */
export class EntryOutcomes {
  readonly #numbers = new Map<string, number>();
  readonly #meanings: OutcomeMeaning[] = [];
  /** The first outcomes of the ranges in which the numbers count. */
  readonly #firsts = new Set<number>();
  readonly #claim: (first: number, count: number) => void;
  /** Maximum number of meanings. */
  readonly room: number;

  constructor(room: number, claim: (first: number, count: number) => void) {
    this.room = room;
    this.#claim = claim;
  }

  get meanings(): readonly OutcomeMeaning[] {
    return this.#meanings;
  }

  /** Call it when readers no longer give any of its entries. */
  clear(): void {
    this.#numbers.clear();
    this.#meanings.length = 0;
  }

  /** Sets the meanings of the first numbers from now on. */
  declare(meanings: readonly OutcomeMeaning[]): void {
    for (const [key, number] of this.#numbers) if (number < meanings.length) this.#numbers.delete(key);
    for (const [number, meaning] of meanings.entries()) {
      this.#meanings[number] = meaning;
      this.#numbers.set(toMeaningKey(meaning), number);
    }
  }

  /** Adds a range in which its numbers count. */
  addRange(first: number): void {
    this.#firsts.add(first);
    this.#claim(first, this.#meanings.length * VIEW_PATHS);
  }

  /** The number of a meaning; undefined if no numbers are left. */
  assignNumber(meaning: OutcomeMeaning): number | undefined {
    const key = toMeaningKey(meaning);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#meanings.length;
    if (number >= this.room) return undefined;
    this.#numbers.set(key, number);
    this.#meanings.push(meaning);
    for (const first of this.#firsts) this.#claim(first + number * VIEW_PATHS, VIEW_PATHS);
    return number;
  }
}

export class ReaderCounts {
  readonly #queries: QueryMetrics;
  readonly #claim: (first: number, count: number) => void;
  readonly #read: () => Pick<QueryCounts, 'groups' | 'queries'>;
  readonly #numbers = new OutcomeRanges();
  /** By server, zone and kind: the same outcomes for the life of the process. */
  readonly #ranges = new Map<string, OutcomeRange>();
  /** The range of each `VIEW_PATHS` outcomes. */
  readonly #byPaths: OutcomeRange[] = [];
  readonly #entries = new Map<string, EntryOutcomes>();
  readonly #seen = new Map<string, number>();

  /**
   * @param claim creates counters
   * @param read returns the counts of readers so far
   */
  constructor(
    metrics: MetricRegistry,
    claim: (first: number, count: number) => void,
    read: () => Pick<QueryCounts, 'groups' | 'queries'>,
  ) {
    this.#queries = new QueryMetrics(metrics);
    this.#claim = claim;
    this.#read = read;
    metrics.collectBy(() => this.catchUp());
  }

  /** Counts readers' answers since the last call. Call it before meanings change. */
  catchUp(): void {
    this.#collect(this.#read());
  }

  /** The first of the outcomes of a zone, `VIEW_PATHS` for each meaning; undefined if no outcomes are left. */
  claimOutcomes(zone: CountedZone, kind: string, meanings: readonly OutcomeMeaning[]): number | undefined {
    const range = this.#getOrCreateRange(zone, `${kind} ${meanings.length}`, meanings.length);
    if (range === undefined) return undefined;
    range.meanings = meanings;
    this.#claim(range.first, meanings.length * VIEW_PATHS);
    return range.first;
  }

  /** The first of the outcomes that entries of a cache have in a zone; undefined if no outcomes are left. */
  claimEntryOutcomes(zone: CountedZone, entries: EntryOutcomes): number | undefined {
    const range = this.#getOrCreateRange(zone, `entries ${entries.room}`, entries.room);
    if (range === undefined) return undefined;
    range.meanings = entries.meanings;
    entries.addRange(range.first);
    return range.first;
  }

  /**
   * The outcomes of the entries of a cache.
   *
   * @param cache its key
   * @param room maximum number of meanings
   */
  getOrCreateEntries(cache: string, room: number): EntryOutcomes {
    const entries = this.#entries.get(cache) ?? new EntryOutcomes(room, this.#claim);
    this.#entries.set(cache, entries);
    return entries;
  }

  #getOrCreateRange(zone: CountedZone, kind: string, meanings: number): OutcomeRange | undefined {
    const key = `${zone.server} ${zone.zone} ${zone.view} ${kind}`;
    const known = this.#ranges.get(key);
    if (known !== undefined) {
      known.zone = zone;
      return known;
    }
    const first = this.#numbers.take(meanings * VIEW_PATHS);
    if (first === undefined) return undefined;
    const range: OutcomeRange = { zone, first, meanings: [] };
    this.#ranges.set(key, range);
    for (let number = 0; number < meanings; number++)
      this.#byPaths[Math.floor(first / VIEW_PATHS) + number] = range;
    return range;
  }

  #collect({ groups, queries }: Pick<QueryCounts, 'groups' | 'queries'>): void {
    for (const group of groups) {
      const range = this.#byPaths[Math.floor(group.outcome / VIEW_PATHS)];
      if (range !== undefined) this.#countGroup(group, range);
    }
    for (const each of queries) {
      const range = this.#byPaths[Math.floor(each.outcome / VIEW_PATHS)];
      if (range?.zone.isCounted === true) this.#countQueries(each, range.zone);
    }
  }

  #countGroup(
    group: AnswerGroup,
    { zone: { server, zone, view, isCounted }, first, meanings }: OutcomeRange,
  ): void {
    const path = PATHS[group.outcome % VIEW_PATHS];
    const meaning = meanings[Math.floor((group.outcome - first) / VIEW_PATHS)];
    const site = { server, zone, view };
    const of = `${group.outcome} ${group.pointers}`;
    const times = this.#growth(of, group.count);
    if (times > 0) for (const count of meaning?.counts ?? []) count.add(site, times);
    if (!isCounted || path === undefined) return;
    for (const { type, rcode, count } of group.byTypeAndRcode)
      this.#queries.addAnswers(site, path, {
        type: type ?? 0,
        rcode,
        plugin: meaning?.plugin ?? '',
        times: this.#growth(`${of} ${type} ${rcode}`, count),
      });
    const octets = this.#growth(`${of} octets`, group.octets);
    const milliseconds = this.#growth(`${of} milliseconds`, group.milliseconds);
    if (times > 0) this.#queries.addMeans(site, path, { times, octets, milliseconds });
  }

  #countQueries(
    { outcome, octets, dnssecOk, sizes }: QueriesOfOutcome,
    { server, zone, view }: CountedZone,
  ): void {
    const path = PATHS[outcome % VIEW_PATHS];
    if (path === undefined) return;
    this.#queries.addRequests({ server, zone, view }, path, {
      octets: this.#growth(`${outcome} query octets`, octets),
      dnssecOk: this.#growth(`${outcome} DO`, dnssecOk),
      sizes: sizes.map((count, bucket) => this.#growth(`${outcome} queries ${bucket}`, count)),
    });
  }

  #growth(key: string, now: number): number {
    const before = this.#seen.get(key) ?? 0;
    this.#seen.set(key, now);
    return Math.max(0, now - before);
  }
}

function toMeaningKey({ plugin, counts }: OutcomeMeaning): string {
  return [plugin, ...counts.map(({ key }) => key)].join('\n');
}
