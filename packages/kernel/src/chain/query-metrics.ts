/**
 * Metrics of each query, under CoreDNS's names: requests, responses, sizes and times.
 */
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import type { Edns } from '@portolan/dns/types.ts';
import type { Counter, Histogram } from '../base/metrics/counted-families.ts';
import type { MetricRegistry } from '../base/metrics/registry.ts';
import { QUERY_SIZE_BOUNDS } from '../table/counted.ts';
import type { Client, QuerySite } from './query.ts';

/** A query with its response. */
export interface CompletedQuery {
  readonly site: QuerySite;
  readonly client: Client;
  readonly type: number;
  readonly edns: Edns | undefined;
  /** The whole response code; NOERROR if no response was sent. */
  readonly rcode: number;
  /** Octets of the response, without compression of names. */
  readonly responseSize: number;
  /** The plugin that the response counts for; empty: the server made it. */
  readonly plugin: string;
  readonly seconds: number;
}

type ReaderSite = { readonly server: string; readonly zone: string; readonly view: string };
type PathLabels = { readonly proto: 'udp' | 'tcp'; readonly family: '1' | '2' };
type ReaderSums = { readonly times: number; readonly octets: number; readonly milliseconds: number };
interface ReaderRequests {
  readonly octets: number;
  readonly dnssecOk: number;
  /** By the buckets of `QUERY_SIZE_BOUNDS`, and one for larger sizes. */
  readonly sizes: readonly number[];
}
interface ReaderAnswers extends Pick<CompletedQuery, 'type' | 'rcode' | 'plugin'> {
  readonly times: number;
}

const DURATIONS = Array.from({ length: 16 }, (_, step) => 0.00025 * 2 ** step);
/** CoreDNS has the same buckets for both directions. */
const SIZES = QUERY_SIZE_BOUNDS;

/** Types with their own label value; all others are `other`. */
const NAMED_TYPES: ReadonlySet<string> = new Set(
  `A AAAA MX SOA CNAME PTR TXT NS SRV DS DNSKEY RRSIG NSEC NSEC3 HTTPS SVCB IXFR AXFR ANY`.split(' '),
);

export class QueryMetrics {
  readonly #requests: Counter;
  readonly #dnssecOk: Counter;
  readonly #responses: Counter;
  readonly #durations: Histogram;
  readonly #requestSizes: Histogram;
  readonly #responseSizes: Histogram;

  constructor(metrics: MetricRegistry) {
    const site = ['server', 'zone', 'view'];
    this.#requests = metrics.counter(
      'coredns_dns_requests_total',
      'Counter of DNS requests made per zone, protocol and family.',
      [...site, 'proto', 'family', 'type'],
    );
    this.#dnssecOk = metrics.counter(
      'coredns_dns_do_requests_total',
      'Counter of DNS requests with DO bit set per zone.',
      site,
    );
    this.#responses = metrics.counter('coredns_dns_responses_total', 'Counter of response status codes.', [
      ...site,
      'rcode',
      'plugin',
    ]);
    this.#durations = metrics.histogram(
      'coredns_dns_request_duration_seconds',
      'Histogram of the time (in seconds) each request took per zone.',
      DURATIONS,
    );
    this.#requestSizes = metrics.histogram(
      'coredns_dns_request_size_bytes',
      'Size of the EDNS0 UDP buffer in bytes (64K for TCP) per zone and protocol.',
      SIZES,
    );
    this.#responseSizes = metrics.histogram(
      'coredns_dns_response_size_bytes',
      'Size of the returned response in bytes.',
      SIZES,
    );
  }

  count({ site, client, type, edns, rcode, responseSize, plugin, seconds }: CompletedQuery): void {
    const { server, zone, view, octets } = site;
    const labels = { server, zone, view };
    const proto = client.transport === 'udp' ? 'udp' : 'tcp';
    const family = client.address.includes(':') ? '2' : '1';
    this.#requests.inc({ ...labels, proto, family, type: typeLabel(type) });
    if (edns?.dnssecOk === true) this.#dnssecOk.inc(labels);
    this.#durations.observe(labels, seconds);
    this.#requestSizes.observe({ ...labels, proto }, octets);
    this.#responseSizes.observe({ ...labels, proto }, responseSize);
    this.#responses.inc({ ...labels, rcode: rcodeName(rcode), plugin });
  }

  /** Counts the queries that readers answered. */
  addRequests(site: ReaderSite, { proto }: PathLabels, { octets, dnssecOk, sizes }: ReaderRequests): void {
    if (dnssecOk > 0) this.#dnssecOk.inc(site, dnssecOk);
    if (octets > 0) this.#requestSizes.add({ ...site, proto }, sizes, octets);
  }

  /** Counts answers that readers gave. */
  addAnswers(site: ReaderSite, path: PathLabels, { type, rcode, plugin, times }: ReaderAnswers): void {
    if (times === 0) return;
    this.#requests.inc({ ...site, ...path, type: typeLabel(type) }, times);
    this.#responses.inc({ ...site, rcode: rcodeName(rcode), plugin }, times);
  }

  /** Counts their sizes and times, of which only the sums are known. */
  addMeans(site: ReaderSite, { proto }: PathLabels, sums: ReaderSums): void {
    const { times, octets, milliseconds } = sums;
    this.#durations.observe(site, milliseconds / 1000 / times, times);
    this.#responseSizes.observe({ ...site, proto }, octets / times, times);
  }
}

function typeLabel(type: number): string {
  const name = typeName(type);
  return NAMED_TYPES.has(name) ? name : 'other';
}
