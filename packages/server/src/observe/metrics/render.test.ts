import { TYPE } from '@portolan/dns/types.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RESOLVER_OUTCOME } from '@portolan/kernel/chain/outcomes.ts';
import { OUTCOME } from '@portolan/kubernetes/names/outcomes.ts';
import { expect, it } from 'vitest';
import { NO_DROPS } from '../http-connections.ts';
import type { Stats } from '../stats.ts';
import { METRICS } from './all.ts';
import { Metrics } from './render.ts';

const bare: Stats = {
  ready: false,
  reason: undefined,
  findings: [],
  searches: undefined,
  losses: [{ kind: 'services', stale: 3, lost: 7 }],
  foreignDenials: 0,
  queries: { byTypeAndRcode: [], byOutcome: new Map(), groups: [], queries: [] },
  table: {
    nodes: 12,
    nodeOctets: 3_400,
    records: 7,
    recordOctets: 560,
    cached: 5,
    cachedOctets: 600,
    indexSlots: 64,
    touchedOctets: 8_192,
    awaitingReaders: 0,
    insertions: 0,
    evictions: 0,
    refusals: 0,
  },
  forward: {
    inFlight: 3,
    queued: 1,
    coalesced: 4,
    refused: 2,
    hedged: 5,
    retried: 7,
    droppedRecords: 6,
    upstreams: [
      {
        upstream: '192.0.2.1:53',
        state: { kind: 'well' },
        stateAge: 0,
        lastReplyAge: undefined,
        sent: 20,
        timeouts: 2,
        networkErrors: 1,
        loops: 0,
        inFlight: 3,
        timeout: 100,
        replies: new Map([
          [0, 15],
          [3, 2],
        ]),
        dropped: { strange: 1, otherQuestion: 0, otherCase: 0 },
        smoothedRoundTrip: 12.5,
      },
    ],
    latency: {
      buckets: [
        [0.001, 3],
        [0.002, 5],
      ],
      sum: 1.5,
      count: 6,
    },
    failures: new Map([['no-upstream', 7]]),
  },
  cache: { hits: 1, misses: 30, stale: 2, prefetched: 9 },
  forwarded: { reader: 40, main: 2 },
  dataAge: undefined,
  watches: [],
  etcd: undefined,
  udp: undefined,
  tcp: undefined,
  httpDrops: NO_DROPS,
  queryLog: { dropped: 0, failures: 0 },
  snapshot: undefined,
  manifests: undefined,
  config: undefined,
};

const render = (stats: Stats) => new Metrics({ version: '1.2.3' }, () => stats).render();
const listSampleLines = (text: string) =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

it('counts queries by the names of type and response code', async () => {
  const text = await render({
    ...bare,
    queries: {
      byTypeAndRcode: [
        { type: TYPE.A, rcode: 0, count: 7 },
        { type: undefined, rcode: 3, count: 2 },
      ],
      byOutcome: new Map([[OUTCOME.headless, 4]]),
      groups: [],
      queries: [],
    },
  });
  expect(listSampleLines(text)).toContain('portolan_dns_queries_total{type="A",rcode="NOERROR"} 7');
  expect(listSampleLines(text)).toContain('portolan_dns_queries_total{type="other",rcode="NXDOMAIN"} 2');
  expect(listSampleLines(text)).toContain('portolan_dns_hits_total{name="headless"} 4');
});

it('shows states of watches, ages and sizes', async () => {
  const watch = {
    title: 'services',
    state: 'waiting',
    age: 1_500,
    objects: 3,
    lists: 2,
    repairs: 1,
    malformed: 0,
  } as const;
  const lines = listSampleLines(await render({ ...bare, ready: true, dataAge: 2_500, watches: [watch] }));
  expect(lines).toEqual(
    expect.arrayContaining([
      `portolan_build_info{version="1.2.3",node="${process.version}"} 1`,
      'portolan_ready 1',
      'portolan_data_age_seconds 2.5',
      'portolan_watch_age_seconds{kind="services"} 1.5',
      'portolan_watch_state{kind="services",state="waiting"} 1',
      'portolan_watch_state{kind="services",state="watching"} 0',
      'portolan_watch_relists_total{kind="services"} 1',
      'portolan_table_entries{kind="name"} 12',
      'portolan_table_bytes{kind="cached"} 600',
    ]),
  );
});

it('has series for the first 200 namespaces that search lists show, and one for all others', async () => {
  const namespaces = Array.from({ length: 300 }, (_, number) => [`n${number}`, 2] as const);
  const searches = new Map([['a\\027b', 5], ...namespaces, ['', 7]]);
  const lines = listSampleLines(await render({ ...bare, searches }));
  const series = lines.filter((line) => line.startsWith('portolan_search_path_misses_total'));
  expect([series.length, series[0], series[1], series.at(-1)]).toEqual([
    200,
    'portolan_search_path_misses_total{namespace="_other"} 214',
    'portolan_search_path_misses_total{namespace="n0"} 2',
    'portolan_search_path_misses_total{namespace="n198"} 2',
  ]);
  expect(listSampleLines(await render(bare)).some((line) => line.includes('search_path'))).toBe(false);
});

it('shows what went upstream, and what the cache saved', async () => {
  const byOutcome = new Map([
    [RESOLVER_OUTCOME.answered, 40],
    [RESOLVER_OUTCOME.stale, 5],
  ]);
  const text = await render({ ...bare, queries: { byTypeAndRcode: [], byOutcome, groups: [], queries: [] } });
  expect(listSampleLines(text)).toEqual(
    expect.arrayContaining([
      'portolan_upstream_queries_total{upstream="192.0.2.1:53"} 20',
      'portolan_upstream_results_total{upstream="192.0.2.1:53",result="NXDOMAIN"} 2',
      'portolan_upstream_results_total{upstream="192.0.2.1:53",result="timeout"} 2',
      'portolan_upstream_state{upstream="192.0.2.1:53",state="well"} 1',
      'portolan_upstream_rtt_seconds{upstream="192.0.2.1:53"} 0.0125',
      'portolan_forward_inflight_queries 3',
      'portolan_forward_failures_total{reason="no_upstream"} 7',
      'portolan_cache_hits_total{kind="fresh"} 41',
      'portolan_cache_hits_total{kind="stale"} 7',
      'portolan_cache_misses_total 30',
      'portolan_forward_duration_seconds_bucket{le="0.002"} 5',
      'portolan_forward_duration_seconds_bucket{le="+Inf"} 6',
      'portolan_forward_duration_seconds_sum 1.5',
      'portolan_forward_duration_seconds_count 6',
    ]),
  );
  expect(text).toContain('# TYPE portolan_forward_duration_seconds histogram');
});

it('counts the items of sources that were passed over', async () => {
  const guard = new ItemGuard({ source: 'etcd', clock: new ManualClock(), log: silentLog });
  // Other tests of this process may have counted too.
  const count = async () => {
    const found = /\{source="etcd",reason="too-large"\} (\d+)/.exec(await render(bare));
    return Number(found?.[1]);
  };
  const before = await count();
  guard.reject('/skydns/a', 'too-large', 'it is large');
  expect(await count()).toBe(before + 1);
});

it('has no value for what is not to be had', async () => {
  const lines = listSampleLines(await render(bare));
  for (const name of [
    'data_age_seconds',
    'udp_readers',
    'tcp_connections',
    'snapshot_errors_total',
    'manifest_files',
  ])
    expect(lines.filter((line) => line.startsWith(`portolan_${name}`))).toEqual([]);
});

it('reads counters again each time, so that they never double', async () => {
  let count = 1;
  const metrics = new Metrics({ version: 'x' }, () => ({
    ...bare,
    queries: {
      byTypeAndRcode: [{ type: TYPE.A, rcode: 0, count }],
      byOutcome: new Map(),
      groups: [],
      queries: [],
    },
  }));
  await metrics.render();
  count = 3;
  expect(listSampleLines(await metrics.render())).toContain(
    'portolan_dns_queries_total{type="A",rcode="NOERROR"} 3',
  );
});

it('names every metric once, by the rules of Prometheus', () => {
  const names = METRICS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, type } of METRICS) expect(name.endsWith('_total')).toBe(type === 'counter');
});
