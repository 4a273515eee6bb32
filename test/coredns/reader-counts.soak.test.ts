/**
 * Metrics are the same whether readers or the handlers of a server block answer, for any block and any question.
 */
import { parseName } from '@portolan/dns/name.ts';
import { RCODE, type ResourceRecord } from '@portolan/dns/types.ts';
import { type Clock, systemClock } from '@portolan/kernel/base/clock.ts';
import type { Labels } from '@portolan/kernel/base/metrics/family.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import {
  ALL_RESTORED,
  isLeftToChain,
  NOTHING_RESTORED,
  type RestoredDeviations,
} from '@portolan/kernel/deviations/table.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import fc from 'fast-check';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { namespace, service } from '../list-watch/harness.ts';
import { makePacket, ReaderSubject, SERVER } from './reader-subject.ts';

const SOA = {
  kind: 'SOA',
  primary: parseName('ns.test.'),
  mailbox: parseName('admin.test.'),
  serial: 1,
  refresh: 2,
  retry: 3,
  expire: 4,
  minimum: 20,
} as const;

/** Names that begin with `missing` do not exist; all others have one address. */
function answer({ query, send }: ReceivedQuery): void {
  const [question] = query.questions;
  if (question === undefined) return;
  const { name } = question;
  const of = (owner: typeof name, ttl: number, data: ResourceRecord['data']) => ({
    name: owner,
    class: 1,
    ttl,
    data,
  });
  const header = { ...query.header, response: true, rcode: RCODE.NXDOMAIN };
  const denial = { header, answers: [], authorities: [of(parseName('test.'), 15, SOA)] };
  const address = { answers: [of(name, 40, { kind: 'A', address: '192.0.2.7' })] };
  send(reply(query, name.startsWith('missing') ? denial : address));
}

async function startUpstream(): Promise<LoopbackUpstream> {
  const upstream = await LoopbackUpstream.start(answer);
  onTestFinished(() => upstream.stop());
  return upstream;
}

async function startSubject(
  lines: readonly string[],
  clock: Clock = new ManualClock(),
  restored = NOTHING_RESTORED,
): Promise<ReaderSubject> {
  const corefile = `.:53 {\n  prometheus\n  ${lines.join('\n  ')}\n}\n`;
  const subject = new ReaderSubject(corefile, clock, restored);
  await subject.engine.start();
  return subject;
}

const folder = await makeTemporaryFolder(afterAll);
const LINES = [
  `autopath ${await folder.write('search', 'search before.test test\n')}`,
  'dns64 {\n    allow_ipv4\n  }',
  'dns64 {\n    translate_all\n    allow_ipv4\n  }',
  'loadbalance',
  'local',
  'any',
  'minimal',
  'rewrite name exact old.test other.test',
  'rewrite name suffix .before.test .test answer auto',
  'template IN AAAA {\n    rcode NOERROR\n    fallthrough own.test\n  }',
  'template IN A made.test {\n    answer "{{ .Name }} 50 IN A 198.51.100.1"\n  }',
] as const;
const ACLS = [
  '',
  'acl {\n    allow net *\n  }',
  'acl missing.test {\n    block net *\n  }',
  'acl {\n    filter type AAAA net 192.0.2.0/24\n  }',
  'acl own.test {\n    allow type A net 192.0.2.0/24\n    block net *\n  }',
] as const;
const HOSTS = 'hosts {\n    198.51.100.7 own.test\n    ttl 30\n    fallthrough\n  }';
const CACHE_OF_SOME = 'cache 30 test';
const CACHES = [
  '',
  'cache',
  'cache',
  'cache',
  CACHE_OF_SOME,
  'cache {\n    disable success other.test\n  }',
  'cache {\n    disable denial\n  }',
  'cache {\n    serve_stale 1h verify\n    servfail 10s\n  }',
] as const;
const LONG = `${'a'.repeat(60)}.${'b'.repeat(60)}`;
const NAMES = [
  'old.test',
  'other.test',
  'OTHER.before.test',
  'missing.test',
  'missing.before.test',
  'own.test',
  'x.made.test',
  `${LONG}.made.test`,
  `${LONG}.test`,
  'localhost',
  'x.localhost',
  'own.before.test',
];

interface Asked {
  readonly name: string;
  readonly type: string;
  readonly size: number | undefined;
  readonly dnssecOk: boolean;
  readonly transport: 'udp' | 'tcp';
  readonly seconds: number;
}

/** Few questions, so that most of them come again. */
const steps: fc.Arbitrary<readonly Asked[]> = fc
  .record({
    names: fc.subarray(NAMES, { minLength: 2, maxLength: 4 }),
    types: fc.subarray(['AAAA', 'MX', 'ANY', 'HTTPS', 'DS'], { minLength: 1, maxLength: 2 }),
  })
  .chain(({ names, types }) =>
    fc.array(
      fc.record({
        name: fc.constantFrom(...names),
        type: fc.constantFrom('A', ...types),
        size: fc.constantFrom(undefined, 4096, 1232),
        dnssecOk: fc.constantFrom(false, false, true),
        transport: fc.constantFrom('udp', 'udp', 'tcp'),
        seconds: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, 1, 7, 30),
      }),
      { minLength: 20, maxLength: 40 },
    ),
  );

function packetFor({ name, type, size, dnssecOk }: Asked): Uint8Array {
  if (size === undefined) return makePacket(name, type);
  // The type of dns-packet asks for what it does not need.
  const opt = { type: 'OPT', name: '.', udpPayloadSize: size, flags: dnssecOk ? 0x8000 : 0 } as never;
  return makePacket(name, type, { additionals: [opt] });
}

/** @returns how many answers readers gave */
async function askAll(
  subject: ReaderSubject,
  { clock, asked, reads }: { clock: ManualClock; asked: readonly Asked[]; reads: boolean },
): Promise<number> {
  let read = 0;
  for (const each of asked) {
    clock.advance(each.seconds * 1000);
    const packet = packetFor(each);
    if (reads && subject.askTable(packet, undefined, each.transport) !== undefined) read += 1;
    else await subject.askChain(packet, each.transport);
  }
  return read;
}

/** Readers send compressed names, and take no part in how long the chain takes: of these no more is the same than how many they are. */
const COUNTED_ONLY = /_duration_seconds$|_response_size_bytes$/;
/** What depends on when this process reads files and connects. */
const OF_THE_PROCESS = /^coredns_(hosts_reload_timestamp_seconds|proxy_conn_cache_.*)$/;

interface NamedSample {
  /** With its suffix. */
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

/** How samples of a block are changed before they are compared. */
type Change = (sample: NamedSample) => NamedSample[];

/** All families, as text by sample. */
async function sumSamples({ engine }: ReaderSubject, change: Change) {
  const sums = new Map<string, number>();
  for (const family of engine.metrics.families()) {
    if (OF_THE_PROCESS.test(family.name)) continue;
    const samples = Array.from(family.read(), ([labels, value, suffix = '']) => ({
      name: family.name + suffix,
      labels,
      value,
    }));
    for (const { name, labels, value } of samples.flatMap(change)) {
      if (COUNTED_ONLY.test(family.name) && !name.endsWith('_count')) continue;
      const key = `${name} ${JSON.stringify(Object.entries(labels).sort())}`;
      sums.set(key, (sums.get(key) ?? 0) + value);
    }
  }
  return Object.fromEntries([...sums].sort(([one], [other]) => (one < other ? -1 : 1)));
}

const asIs: Change = (sample) => [sample];

function chooseChange(hosts: string, cache: string): Change {
  if (hosts === '' || cache === '') return asIs;
  return cache === CACHE_OF_SOME ? leaveOutCache : joinCacheOfNames;
}

/** Whether a name that is published lies in the zones of the cache is not known where it is counted. */
function leaveOutCache(sample: NamedSample): NamedSample[] {
  return sample.name.startsWith('coredns_cache_') ? [] : joinCacheOfNames(sample);
}

/**
 * Names that the table publishes are never missing in a cache before their publisher: the chain counts the first of them in each
 * lifetime as a miss, and has the later ones answered in the name of the cache.
 */
function joinCacheOfNames(sample: NamedSample): NamedSample[] {
  const { name, labels, value } = sample;
  if (name === 'coredns_cache_entries') return [];
  if (/^coredns_cache_(hits|misses)_total$/.test(name))
    return [{ name: 'hits and misses', labels: { server: labels['server'] ?? '' }, value }];
  const isOfBoth = labels['plugin'] === 'hosts' || labels['plugin'] === 'cache';
  return [isOfBoth ? { name, labels: { ...labels, plugin: 'hosts or cache' }, value } : sample];
}

/** Each subject asks the API server by itself. */
function leaveOutRequestsToApi(sample: NamedSample): NamedSample[] {
  return sample.name.startsWith('coredns_kubernetes_') ? [] : [sample];
}

/** With all deviations, as CoreDNS, and anything between. */
const restorations = fc.oneof(
  fc.constantFrom(NOTHING_RESTORED, ALL_RESTORED),
  fc.subarray([...ALL_RESTORED], { maxLength: 3 }).map((ids): RestoredDeviations => new Set(ids)),
);

describe('metrics of a server block', () => {
  it('are equal whether readers or its chain answer', async () => {
    const upstream = await startUpstream();
    let read = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.subarray([...LINES], { maxLength: 4 }),
        fc.constantFrom(...ACLS),
        fc.constantFrom('', HOSTS),
        fc.constantFrom(...CACHES),
        steps,
        restorations,
        async (lines, acl, hosts, cache, asked, restored) => {
          const block = [...lines, acl, hosts, cache, `forward . ${upstream.address}`];
          const samples = [];
          for (const reads of [false, true]) {
            const clock = new ManualClock();
            const subject = await startSubject(block, clock, restored);
            read += await askAll(subject, { clock, asked, reads });
            samples.push(
              await sumSamples(subject, isLeftToChain('names', restored) ? asIs : chooseChange(hosts, cache)),
            );
            subject.stop();
          }
          expect(samples[1]).toEqual(samples[0]);
        },
      ),
      { numRuns: 100 },
    );
    expect(read).toBeGreaterThan(200);
  });

  it('are those of the publisher that knows a name', async () => {
    const objects = [namespace('default'), service('web', '10.96.0.10')];
    const api = await ApiServerDouble.start({ objects });
    onTestFinished(() => api.stop());
    const cluster = `kubernetes cluster.local {\n    endpoint ${api.url}\n  }`;
    const samples = [];
    for (const reads of [false, true]) {
      const subject = await startSubject([HOSTS, cluster], systemClock);
      for (const name of ['own.test', 'web.default.svc.cluster.local', 'missing.default.svc.cluster.local'])
        for (const type of ['A', 'A', 'AAAA']) {
          const isRead = reads && subject.askTable(makePacket(name, type)) !== undefined;
          expect(isRead, name).toBe(reads);
          if (!isRead) await subject.askChain(makePacket(name, type));
        }
      samples.push(await sumSamples(subject, leaveOutRequestsToApi));
    }
    expect(samples[1]).toEqual(samples[0]);
    expect(JSON.stringify(samples[1])).toContain('hosts');
  });

  it('count names that are published behind a cache as its hits', async () => {
    const api = await ApiServerDouble.start({
      objects: [namespace('default'), service('web', '10.96.0.10')],
    });
    onTestFinished(() => api.stop());
    const cluster = `kubernetes cluster.local {\n    endpoint ${api.url}\n  }`;
    const subject = await startSubject([HOSTS, cluster, 'cache'], systemClock);
    for (const name of ['own.test', 'web.default.svc.cluster.local'])
      for (const type of ['A', 'A', 'AAAA']) expect(subject.askTable(makePacket(name, type))).toBeDefined();
    const text = await subject.engine.metrics.render();
    const labels = `server="${SERVER}",zones=".",view=""`;
    expect(text).toContain(`coredns_cache_requests_total{${labels}} 6`);
    // `hosts` denies a type without an SOA record, which is no denial to a cache.
    expect(text).toContain(`coredns_cache_hits_total{${labels},type="success"} 5`);
    expect(text).toContain(`coredns_cache_hits_total{${labels},type="denial"} 1`);
  });

  it.each([
    ['forwarded names', ['cache'], 'other.test'],
    ['denials', ['cache'], 'missing.test'],
    ['rewritten names', ['rewrite name exact old.test other.test', 'cache'], 'old.test'],
    ['names of hosts', [HOSTS], 'own.test'],
    ['names of hosts behind a cache', [HOSTS, 'cache'], 'own.test'],
    [
      'templates',
      ['template IN A made.test {\n    answer "{{ .Name }} 50 IN A 198.51.100.1"\n  }'],
      'x.made.test',
    ],
  ])('have each of 10 queries for %s as allowed by acl', async (_, lines, name) => {
    const upstream = await startUpstream();
    const acl = 'acl blocked.test {\n    block net *\n  }';
    const subject = await startSubject([acl, ...lines, `forward . ${upstream.address}`]);
    let read = 0;
    for (let turn = 0; turn < 10; turn++) {
      if (subject.askTable(makePacket(name, 'A')) !== undefined) read += 1;
      else await subject.askChain(makePacket(name, 'A'));
    }
    expect(read).toBeGreaterThanOrEqual(8);
    const text = await subject.engine.metrics.render();
    expect(text).toContain(`coredns_acl_allowed_requests_total{server="${SERVER}",view=""} 10`);
    const site = `server="${SERVER}",zone=".",view=""`;
    const octets = 10 * makePacket(name, 'A').length;
    expect(text).toContain(`coredns_dns_request_size_bytes_sum{${site},proto="udp"} ${octets}`);
    expect(text).toContain(`coredns_dns_request_size_bytes_bucket{le="100",${site},proto="udp"} 10`);
  });
});
