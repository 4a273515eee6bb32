/**
 * What readers answer for server blocks, in the metrics of `prometheus`: beside the queries that the chain has counted.
 *
 * Readers know neither the size of a query nor DO: `coredns_dns_request_size_bytes` and `coredns_dns_do_requests_total` are of the
 * chain alone.
 */
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import { QueryMetrics } from '../../handlers/prometheus/query-metrics.ts';
import type { AnswerGroup, QueryCounts } from '../../table/counter-sums.ts';
import { VIEW_OUTCOMES } from '../../table/types.ts';
import type { NameKey } from '../../wire/types.ts';

/** What answers of a block are counted for. */
export interface CountedAs {
  /** Plugins in metrics, for names that are published and for cached answers; undefined: the block has no `prometheus`. */
  readonly plugins: { readonly publisher: string; readonly cache: string } | undefined;
  /** Counts answers of its cache; undefined: it has none. */
  readonly countRead: ((server: string, outcome: number, times: number) => void) | undefined;
}

interface CountedZone extends CountedAs {
  readonly server: string;
  readonly zone: NameKey;
}

/** By transport and family, as readers count them. */
const PATHS = [
  { proto: 'udp', family: '1' },
  { proto: 'udp', family: '2' },
  { proto: 'tcp', family: '1' },
  { proto: 'tcp', family: '2' },
] as const;
/** Those before are of the plan's other parts. */
const FIRST_OUTCOME = 256;

export class ReaderCounts {
  readonly #queries: QueryMetrics;
  /** By server and zone: outcomes stand for the same ones as long as the process lives. */
  readonly #zones = new Map<string, CountedZone>();
  readonly #seen = new Map<string, number>();

  /** @param read what readers have counted by now */
  constructor(metrics: PluginMetrics, read: () => Pick<QueryCounts, 'groups'>) {
    this.#queries = new QueryMetrics(metrics);
    metrics.collectBy(() => this.#collect(read()));
  }

  /** The first of the twelve outcomes of a zone: what is from no cache, and the two kinds of cached answers. */
  outcomesOf(server: string, zone: NameKey, countedAs: CountedAs): number {
    const key = `${server} ${zone}`;
    const index = this.#zones.has(key) ? [...this.#zones.keys()].indexOf(key) : this.#zones.size;
    this.#zones.set(key, { server, zone, ...countedAs });
    return FIRST_OUTCOME + index * VIEW_OUTCOMES;
  }

  /** Counts what readers have answered since the last call. */
  #collect({ groups }: Pick<QueryCounts, 'groups'>): void {
    const zones = [...this.#zones.values()];
    for (const group of groups) {
      const index = group.outcome - FIRST_OUTCOME;
      const zone = index < 0 ? undefined : zones[Math.floor(index / VIEW_OUTCOMES)];
      const path = PATHS[index % PATHS.length];
      if (zone === undefined || path === undefined) continue;
      const cached = Math.floor((index % VIEW_OUTCOMES) / PATHS.length);
      if (cached > 0) {
        const times = this.#growth(`${group.outcome} ${group.pointers} cached`, group.count);
        if (times > 0) zone.countRead?.(zone.server, cached, times);
      }
      const { plugins } = zone;
      if (plugins !== undefined)
        this.#count(group, zone, cached > 0 ? plugins.cache : plugins.publisher, path);
    }
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
