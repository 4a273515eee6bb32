/**
 * What readers answer for server blocks, in the metrics of `prometheus`: beside the queries that the chain has counted.
 *
 * Readers know neither the size of a query nor DO: `coredns_dns_request_size_bytes` and `coredns_dns_do_requests_total` are of the
 * chain, and of what readers forward.
 */
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import type { HandlerCount } from '../../chain/query.ts';
import { QueryMetrics } from '../../plugins/prometheus/query-metrics.ts';
import type { AnswerGroup, QueryCounts } from '../../table/counter-sums.ts';
import { VIEW_OUTCOMES, VIEW_PATHS } from '../../table/types.ts';
import type { NameKey } from '../../wire/types.ts';

/** What answers of a block are counted for. */
export interface CountedAs {
  /** Plugins in metrics, for names that are published and for cached answers; undefined: the block has no `prometheus`. */
  readonly plugins:
    | { readonly publisher: string; readonly cache: string; readonly forwarder: string }
    | undefined;
  /** Counts answers of its cache; undefined: it has none. */
  readonly countRead: ((server: string, outcome: number, times: number) => void) | undefined;
  /** Counts questions for its cache that readers forwarded; undefined: it has none. */
  readonly countForwarded: ((server: string, times: number) => void) | undefined;
}

/** What derived answers are counted for. */
export interface DerivedCount {
  /** Empty where the block has no `prometheus`. */
  readonly plugin: string;
  readonly counts: readonly HandlerCount[];
}

interface CountedZone {
  readonly server: string;
  readonly zone: NameKey;
  readonly firstOutcome: number;
  /** Those of the plan that holds. */
  countedAs: CountedAs;
  /** By key; the first is that of outcome 1 of the table's entries. Undefined: what is cached there comes from a `cache`. */
  readonly derived: Map<string, DerivedCount> | undefined;
  readonly kind: CountedKind;
}

/** What readers answer from: nodes and cached answers, nodes and derived answers, replies to what they have forwarded. */
type CountedKind = 'cached' | 'derived' | 'forwarded';

/** By transport and family, as readers count them. */
const PATHS = [
  { proto: 'udp', family: '1' },
  { proto: 'udp', family: '2' },
  { proto: 'tcp', family: '1' },
  { proto: 'tcp', family: '2' },
] as const;
/** Those before are of the plan's other parts. */
const FIRST_OUTCOME = 256;
/** So many things that derived answers of a zone are counted for. */
const MAX_DERIVED = 15;
const MAX_OUTCOME = 0xffff;

export class ReaderCounts {
  readonly #queries: QueryMetrics;
  /** By server, zone and kind: outcomes stand for the same ones as long as the process lives. */
  readonly #zones = new Map<string, CountedZone>();
  /** By each fourth outcome. */
  readonly #byPaths: CountedZone[] = [];
  readonly #seen = new Map<string, number>();

  /** @param read what readers have counted by now */
  constructor(metrics: PluginMetrics, read: () => Pick<QueryCounts, 'groups'>) {
    this.#queries = new QueryMetrics(metrics);
    metrics.collectBy(() => this.#collect(read()));
  }

  /** The first of the twelve outcomes of a zone: what is from no cache, and the two kinds of cached answers. */
  outcomesOf(server: string, zone: NameKey, countedAs: CountedAs): number {
    return this.#zoneOf(server, zone, countedAs, 'cached', VIEW_OUTCOMES / VIEW_PATHS).firstOutcome;
  }

  /** The first of the four outcomes of what readers forward for a zone; undefined: there are no more. */
  forwardedOutcomesOf(server: string, zone: NameKey, countedAs: CountedAs): number | undefined {
    if (!this.#hasRoomFor(server, zone, 'forwarded', 1)) return undefined;
    return this.#zoneOf(server, zone, countedAs, 'forwarded', 1).firstOutcome;
  }

  /** Counts the sizes of queries that readers forward for a zone; undefined where nothing is counted of them. */
  requestsOf(
    server: string,
    zone: NameKey,
    { plugins }: CountedAs,
  ): ((octets: number, dnssecOk: boolean) => void) | undefined {
    return plugins && this.#queries.requestsOf({ server, zone, view: '' });
  }

  /** The first of the outcomes of a zone whose cached answers are derived ones; undefined: there are no more. */
  derivedOutcomesOf(server: string, zone: NameKey, countedAs: CountedAs): number | undefined {
    if (!this.#hasRoomFor(server, zone, 'derived', 1 + MAX_DERIVED)) return undefined;
    return this.#zoneOf(server, zone, countedAs, 'derived', 1 + MAX_DERIVED).firstOutcome;
  }

  #hasRoomFor(server: string, zone: NameKey, kind: CountedKind, groups: number): boolean {
    const used = FIRST_OUTCOME + this.#byPaths.length * VIEW_PATHS;
    return this.#zones.has(keyOf(server, zone, kind)) || used + groups * VIEW_PATHS <= MAX_OUTCOME;
  }

  /** The outcome of a derived answer of a zone; undefined: there are too many, or it has none. */
  derivedOutcome(server: string, zone: string, count: DerivedCount): number | undefined {
    const derived = this.#zones.get(keyOf(server, zone, 'derived'))?.derived;
    if (derived === undefined) return undefined;
    const key = [count.plugin, ...count.counts.map((each) => each.key)].join('\n');
    if (!derived.has(key)) {
      if (derived.size >= MAX_DERIVED) return undefined;
      derived.set(key, count);
    }
    return [...derived.keys()].indexOf(key) + 1;
  }

  #zoneOf(
    server: string,
    zone: NameKey,
    countedAs: CountedAs,
    kind: CountedKind,
    groups: number,
  ): CountedZone {
    const key = keyOf(server, zone, kind);
    const known = this.#zones.get(key);
    if (known !== undefined) {
      known.countedAs = countedAs;
      return known;
    }
    const firstOutcome = FIRST_OUTCOME + this.#byPaths.length * VIEW_PATHS;
    const derived = kind === 'derived' ? new Map<string, DerivedCount>() : undefined;
    const added: CountedZone = { server, zone, firstOutcome, countedAs, derived, kind };
    this.#zones.set(key, added);
    for (let group = 0; group < groups; group++) this.#byPaths.push(added);
    return added;
  }

  /** Counts what readers have answered since the last call. */
  #collect({ groups }: Pick<QueryCounts, 'groups'>): void {
    for (const group of groups) {
      const zone = this.#byPaths[Math.floor((group.outcome - FIRST_OUTCOME) / VIEW_PATHS)];
      const path = PATHS[group.outcome % PATHS.length];
      if (zone === undefined || path === undefined) continue;
      const kind = Math.floor((group.outcome - zone.firstOutcome) / VIEW_PATHS);
      const plugin =
        kind === 0 && zone.kind !== 'forwarded'
          ? zone.countedAs.plugins?.publisher
          : this.#countKind(group, zone, kind);
      if (zone.countedAs.plugins !== undefined) this.#count(group, zone, plugin ?? '', path);
    }
  }

  /** Counts what is said of cached answers beside all others. @returns the plugin that they are of */
  #countKind(group: AnswerGroup, zone: CountedZone, kind: number): string | undefined {
    const { server, countedAs, derived } = zone;
    const times = this.#growth(`${group.outcome} ${group.pointers} cached`, group.count);
    if (zone.kind === 'forwarded') {
      if (times > 0) countedAs.countForwarded?.(server, times);
      return countedAs.plugins?.forwarder;
    }
    if (derived === undefined) {
      if (times > 0) countedAs.countRead?.(server, kind, times);
      return countedAs.plugins?.cache;
    }
    const count = [...derived.values()][kind - 1];
    if (times > 0) for (const { add } of count?.counts ?? []) add(times);
    return count?.plugin;
  }

  #count(
    group: AnswerGroup,
    { server, zone }: CountedZone,
    plugin: string,
    path: (typeof PATHS)[number],
  ): void {
    const site = { server, zone, view: '' };
    const of = `${group.outcome} ${group.pointers}`;
    for (const { type, rcode, count } of group.byTypeAndRcode)
      this.#queries.addAnswers(site, path, {
        type: type ?? 0,
        rcode,
        plugin,
        times: this.#growth(`${of} ${type} ${rcode}`, count),
      });
    const times = this.#growth(of, group.count);
    const octets = this.#growth(`${of} octets`, group.octets);
    const milliseconds = this.#growth(`${of} milliseconds`, group.milliseconds);
    if (times > 0) this.#queries.addMeans(site, path, { times, octets, milliseconds });
  }

  #growth(key: string, now: number): number {
    const before = this.#seen.get(key) ?? 0;
    this.#seen.set(key, now);
    return Math.max(0, now - before);
  }
}

function keyOf(server: string, zone: string, kind: CountedKind): string {
  return `${server} ${zone} ${kind}`;
}
