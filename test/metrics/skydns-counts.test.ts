/**
 * Sends all kinds of questions to the built server, and compares its metrics with the answers and with the recorded text of
 * kube-dns.
 */
import { readFileSync } from 'node:fs';
import { decodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Message, RCODE, type ResourceRecord, type TYPE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import {
  type Family,
  parsePrometheusText,
  seriesKey,
} from '@portolan/kernel/base/testing/prometheus-text.ts';
import { type AskOptions, exchange, makeQuery } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

const ADDRESS = '127.0.0.1';
const PREFIX = 'skydns_skydns_dns_';

interface Question {
  readonly name: string;
  readonly type: keyof typeof TYPE;
  readonly system: 'auth' | 'recursive' | 'reverse';
  readonly class?: number;
  readonly options?: AskOptions;
}

/** The reverse name of an address outside the cluster. */
const ELSEWHERE = '201.2.0.192.in-addr.arpa.';
const TCP: AskOptions = { transport: 'tcp' };

/** From the table and not, of this cluster and not, remembered and not, good and bad. */
const QUESTIONS: readonly Question[] = [
  { name: 'cart.shop.svc.cluster.local', type: 'A', system: 'auth' },
  { name: 'CART.Shop.svc.Cluster.local', type: 'A', system: 'auth' },
  { name: 'cart.shop.svc.cluster.local', type: 'A', system: 'auth', options: TCP },
  { name: 'cart.shop.svc.cluster.local', type: 'AAAA', system: 'auth' },
  { name: '_http._tcp.cart.shop.svc.cluster.local', type: 'SRV', system: 'auth' },
  { name: 'cart.shop.svc.cluster.local', type: 'TXT', system: 'auth' },
  { name: 'cart.shop.svc.cluster.local', type: 'ANY', system: 'auth' },
  { name: 'payments.shop.svc.cluster.local', type: 'A', system: 'auth' },
  { name: 'no.shop.svc.cluster.local', type: 'A', system: 'auth' },
  { name: 'no.shop.svc.cluster.local', type: 'PTR', system: 'auth' },
  { name: '10-1-2-3.shop.pod.cluster.local', type: 'A', system: 'auth' },
  { name: 'x.shop.pod.cluster.local', type: 'A', system: 'auth' },
  { name: 'cluster.local', type: 'SOA', system: 'auth' },
  { name: 'version.bind', type: 'TXT', system: 'auth', class: CLASS.CH },
  { name: '10.20.96.10.in-addr.arpa', type: 'PTR', system: 'reverse' },
  { name: '200.2.0.192.in-addr.arpa', type: 'PTR', system: 'reverse' },
  { name: 'www.example.com', type: 'A', system: 'recursive' },
  { name: 'www.example.com', type: 'A', system: 'recursive', options: TCP },
  { name: 'cluster.local.example', type: 'MX', system: 'recursive' },
  ...twice({ name: 'address.test', type: 'A', system: 'recursive' }),
  { name: 'address.test', type: 'A', system: 'recursive', options: TCP },
  ...twice({ name: 'nothing.test', type: 'A', system: 'recursive' }),
  ...twice({ name: ELSEWHERE, type: 'PTR', system: 'reverse' }),
  ...twice({ name: 'large.test', type: 'A', system: 'recursive' }),
  { name: 'large.test', type: 'A', system: 'recursive', options: TCP },
  { name: 'slow.test', type: 'A', system: 'recursive' },
];

/** The second time it is remembered. */
function twice(question: Question): readonly Question[] {
  return [question, question];
}

const SLOW_MILLISECONDS = 30;

/** Knows the names below `test.` and the name of an address, and refuses all others. */
async function startUpstream(): Promise<LoopbackUpstream> {
  return LoopbackUpstream.start(({ query, send }) => {
    const name = query.questions[0]?.name ?? '';
    const withCode = (rcode: number) =>
      reply(query, { answers: [], header: { ...query.header, response: true, rcode } });
    const address = makeAddressRecord(query, '198.51.100.1');
    const pointer = { ...address, data: { kind: 'PTR', target: parseName('address.test.') } } as const;
    if (name === 'nothing.test.') send(withCode(RCODE.NXDOMAIN));
    else if (name === 'slow.test.') setTimeout(() => send(reply(query)), SLOW_MILLISECONDS);
    else if (name === 'large.test.') send(reply(query, { answers: manyAddresses(query) }));
    else if (name === 'address.test.') send(reply(query));
    else if (name === ELSEWHERE) send(reply(query, { answers: [pointer] }));
    else send(withCode(RCODE.REFUSED));
  });
}

function manyAddresses(query: Message): readonly ResourceRecord[] {
  return Array.from({ length: 50 }, (_, index) => makeAddressRecord(query, `198.51.100.${index + 1}`));
}

const CAUSES: ReadonlyMap<number, string> = new Map([
  [2, 'servfail'],
  [3, 'nxdomain'],
  [5, 'refused'],
]);

/** What must have been counted, by the text of the series. */
const expected = new Map<string, number>();
let families: ReadonlyMap<string, Family>;
let upstream: LoopbackUpstream;
let metrics = '';
let health = '';

function expectMore(series: string, more: number): void {
  expected.set(series, (expected.get(series) ?? 0) + more);
}

async function scrape(path: string): Promise<string> {
  return (await fetch(`${metrics}${path}`)).text();
}

beforeAll(async () => {
  const port = await findFreePort(ADDRESS);
  upstream = await startUpstream();
  const program = runPortolan([
    'serve',
    '--example',
    '--dialect=kube-dns',
    `--upstream=${upstream.address}`,
    '--log-format=json',
    `--dns-bind-address=${ADDRESS}`,
    `--dns-port=${port}`,
    `--healthz-port=${ADDRESS}:0`,
    `--prometheus-port=${ADDRESS}:0`,
  ]);
  const serving = await program.heard('serving');
  metrics = String(serving['metrics']);
  health = String(serving['health']);
  await program.heard('cluster listed');
  expect(await scrape('/metrics')).not.toContain(PREFIX);
  for (const { name, type, system, options, class: dnsClass = CLASS.IN } of QUESTIONS) {
    const query = makeQuery(name, type);
    const questions = query.questions.map((question) => ({ ...question, class: dnsClass }));
    const octets = await exchange({ address: ADDRESS, port }, { ...query, questions }, options);
    const { rcode, truncated } = decodeMessage(octets).header;
    const cause = truncated ? 'truncated' : CAUSES.get(rcode);
    expectMore(`request_count_total{system="${system}"}`, 1);
    expectMore(`response_size_bytes_sum{system="${system}"}`, octets.length);
    if (cause !== undefined) expectMore(`error_count_total{cause="${cause}",system="${system}"}`, 1);
  }
  families = parsePrometheusText(await scrape('/metrics'));
});

afterAll(async () => {
  await endAllPrograms();
  await upstream.stop();
});

/** The values of a metric by the text of their series. */
function readValues(name: string): ReadonlyMap<string, number> {
  const samples = families.get(`${PREFIX}${name}`)?.samples ?? [];
  return new Map(samples.map((sample) => [seriesKey(sample).replace(PREFIX, ''), sample.value]));
}

describe('the metrics of SkyDNS', () => {
  it.each([
    ['request_count_total', 3],
    ['error_count_total', 4],
  ])('count every answer: %s', (name, least) => {
    const series = [...expected].filter(([key]) => key.startsWith(name)).sort();
    expect(series.length).toBeGreaterThanOrEqual(least);
    expect([...readValues(name)].sort()).toEqual(series);
  });

  it.each(['auth', 'recursive', 'reverse'])('have every answer in their histograms: %s', (system) => {
    const count = expected.get(`request_count_total{system="${system}"}`);
    const sizes = readValues('response_size_bytes');
    expect(sizes.get(`response_size_bytes_count{system="${system}"}`)).toBe(count);
    const sum = `response_size_bytes_sum{system="${system}"}`;
    expect(sizes.get(sum)).toBe(expected.get(sum));
    const durations = readValues('request_duration_seconds');
    expect(durations.get(`request_duration_seconds_count{system="${system}"}`)).toBe(count);
  });

  it('have large answers in buckets of their own', () => {
    const sizes = readValues('response_size_bytes');
    const all = sizes.get('response_size_bytes_count{system="recursive"}') ?? 0;
    expect(sizes.get('response_size_bytes_bucket{le="512",system="recursive"}')).toBe(all - 1);
    expect(sizes.get('response_size_bytes_bucket{le="1024",system="recursive"}')).toBe(all);
  });

  it('have the time that an answer from upstream took', () => {
    const durations = readValues('request_duration_seconds');
    const all = durations.get('request_duration_seconds_count{system="recursive"}') ?? 0;
    expect(durations.get('request_duration_seconds_bucket{le="0.025",system="recursive"}')).toBeLessThan(all);
    const sum = durations.get('request_duration_seconds_sum{system="recursive"}');
    expect(sum).toBeGreaterThan((SLOW_MILLISECONDS - 1) / 1000);
  });

  it('count as misses what the table left to handlers', () => {
    // Two names of pods and the alias; and what is about the server itself, which is counted as of the chain.
    expect([...readValues('cachemiss_count_total')]).toEqual([
      ['cachemiss_count_total{cache="response"}', 4],
    ]);
  });

  it('have the names, types, labels and buckets of the recorded ones', () => {
    const recorded = parsePrometheusText(readFileSync('test/metrics/kube-dns.txt', 'utf8'));
    expect(recorded.size).toBe(5);
    for (const { name, help, type, samples } of recorded.values()) {
      const family = families.get(name);
      expect(family).toMatchObject({ help, type });
      expect(family?.samples.map(seriesKey)).toEqual(expect.arrayContaining(samples.map(seriesKey)));
    }
  });
});

it('either port has all metrics in one text', async () => {
  expect([...families.keys()]).toEqual(
    expect.arrayContaining(['portolan_ready', 'process_cpu_seconds_total', `${PREFIX}request_count_total`]),
  );
  const others = parsePrometheusText(await (await fetch(`${health}/metrics`)).text());
  expect([...others.keys()]).toEqual([...families.keys()]);
});
