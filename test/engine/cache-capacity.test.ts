/**
 * A cache keeps as many answers as its settings ask for, in each role, and counts those that are there.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { compileDnsmasq } from '@portolan/frontends/dnsmasq/settings/compile-dnsmasq.ts';
import { memorySources } from '@portolan/frontends/dnsmasq/settings/testing/memory-sources.ts';
import { readPlan } from '@portolan/frontends/dnsmasq/settings/testing/read-plan.ts';
import { renderCorefile } from '@portolan/frontends/node-cache/settings/render-corefile.ts';
import { compileServe } from '@portolan/frontends/serve/settings/compile-serve.ts';
import { NO_SERVERS } from '@portolan/frontends/serve/settings/resolver-settings.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { compileSkyDns } from '@portolan/frontends/skydns/settings/compile-skydns.ts';
import { readSkyDnsFlags } from '@portolan/frontends/skydns/settings/skydns-flags.ts';
import { readSettings } from '@portolan/frontends/skydns/settings/skydns-settings.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { AnswerKeeper } from '@portolan/kernel/chain/handover-answer.ts';
import { CACHE_OUTCOMES } from '@portolan/kernel/chain/outcomes.ts';
import { QUERY_HEADER, SOA } from '@portolan/kernel/chain/testing/queries.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import { query } from '@portolan/kernel/table/testing/table-answers.ts';
import { Cache } from '@portolan/plugins/cache/cache.ts';
import type { CacheKind } from '@portolan/plugins/cache/cache-metrics.ts';
import { expect, it } from 'vitest';
import { ReaderSubject } from '../coredns/reader-subject.ts';

const ENTRIES = 38_400;
const TTL = 3600;

/** Names of one length, so that one message is enough for all of them. */
const makeName = (index: number) => `service-${String(index).padStart(8, '0')}`;

/** An answer of which 16 MiB hold fewer than `ENTRIES`, or a denial. */
function encodeTemplate(kind: CacheKind): Uint8Array {
  const name = parseName(`${makeName(0)}.department.example.`);
  const text = (length: number) => Buffer.alloc(length, 'x');
  const answer: ResourceRecord = {
    name,
    class: CLASS.IN,
    ttl: TTL,
    data: { kind: 'TXT', strings: [text(255), text(80)] },
  };
  return encodeMessage({
    header: { ...QUERY_HEADER, response: true, rcode: kind === 'success' ? RCODE.NOERROR : RCODE.NXDOMAIN },
    questions: [{ name, type: TYPE.TXT, class: CLASS.IN }],
    answers: kind === 'success' ? [answer] : [],
    authorities: kind === 'success' ? [] : [SOA],
    additionals: [],
    edns: undefined,
  });
}

/** Has answers stored as if they came from a process that ends. */
function fill(keeper: AnswerKeeper, count: number, kind: CacheKind = 'success'): void {
  const message = encodeTemplate(kind);
  // Each kind has names of its own.
  const first = kind === 'success' ? 0 : 10_000_000;
  for (let index = 0; index < count; index += 1) {
    message.set(Buffer.from(makeName(first + index)), HEADER_OCTETS + 1);
    keeper.adopt({
      kind: CACHE_OUTCOMES[kind],
      dnssecOk: false,
      checkingDisabled: false,
      age: 0,
      lifetime: TTL,
      message,
    });
  }
}

function findKeeper({ engine }: ReaderSubject): AnswerKeeper {
  const keeper = engine.find(Cache)?.keeper;
  if (keeper === undefined) throw new Error('no cache');
  return keeper;
}

const corefile = (entries: number) =>
  `. {\n cache 3600 {\n success ${entries} 3600\n denial ${entries} 3600\n }\n hosts {\n 192.0.2.7 own.example\n }\n}\n`;

function compileNodeCache(): EnginePlan {
  const template =
    `.:53 {\n bind __PILLAR__LOCAL__DNS__\n cache {\n success ${ENTRIES} 3600\n denial 1024\n }\n` +
    ' forward . __PILLAR__UPSTREAM__SERVERS__\n}\n';
  const { text } = renderCorefile(template, {
    localAddresses: ['127.0.0.1'],
    clusterDns: undefined,
    port: '53',
    prometheusAddress: '',
    upstreams: ['192.0.2.53'],
    stubDomains: new Map(),
  });
  return compilePlan(text);
}

function compileServeWithFile(command: 'serve' | 'kube-dns'): EnginePlan {
  const checked = planFromFlags(
    { upstream: ['192.0.2.53'], dnsmasqConf: '/dnsmasq.conf' },
    { cores: 2, terminal: false, environment: {} },
    memorySources({ files: { '/dnsmasq.conf': `cache-size=${ENTRIES}\n` } }),
    command,
  );
  if (checked.kind === 'bad') throw new Error(JSON.stringify(checked.problems));
  return compileServe(checked.value, NO_SERVERS, { interfaces: {}, ownAddresses: ['192.0.2.2'] }).engine;
}

function compileSkyDnsFlags(): EnginePlan {
  const words = ['-domain', 'skydns.test.', '-nameservers', '192.0.2.53:53', '-rcache', `${ENTRIES}`];
  const reading = readSkyDnsFlags(words, {});
  if (reading.kind !== 'flags') throw new Error('no flags');
  const settings = readSettings(reading.read, {});
  if (settings.kind === 'bad') throw new Error(JSON.stringify(settings.problems));
  const inputs = { systemServers: [], stubZones: [] };
  return compileSkyDns(settings.settings, inputs, { udpReaders: 1, now: 0 }).engine;
}

function compileDnsmasqLines(): EnginePlan {
  const plan = readPlan(`no-resolv\nserver=192.0.2.53\ncache-size=${ENTRIES}\ncache-rr=ANY\n`);
  const inputs = { fromResolvFile: [], moreRoutes: [] };
  return compileDnsmasq(plan, inputs, { interfaces: {}, udpReaders: 1 }).engine;
}

it.each<[role: string, compile: () => EnginePlan]>([
  ['coredns', () => compilePlan(corefile(ENTRIES))],
  ['node-cache', compileNodeCache],
  ['dnsmasq', compileDnsmasqLines],
  ['skydns', compileSkyDnsFlags],
  ['serve', () => compileServeWithFile('serve')],
  ['kube-dns', () => compileServeWithFile('kube-dns')],
])('keeps in %s all answers that the settings ask for', (_, compile) => {
  const subject = new ReaderSubject(compile(), new ManualClock());
  fill(findKeeper(subject), ENTRIES);
  expect(subject.engine.table.statistics()).toMatchObject({ cached: ENTRIES, refusals: 0 });
});

function encodeQuery(name: string): Uint8Array {
  const { packet, length } = query(name, 'A');
  return packet.subarray(0, length);
}

/** The values of `coredns_cache_entries`. */
const countByMetric = async ({ engine }: ReaderSubject) =>
  [...(await engine.metrics.render()).matchAll(/^coredns_cache_entries\{.*type="(\w+)".*\} (\d+)$/gm)].map(
    ([, type = '', count]) => `${type} ${count}`,
  );

it('keeps more answers once a changed Corefile asks for them, and evicts what a smaller one does not', async () => {
  const subject = new ReaderSubject(corefile(1024), new ManualClock());
  const { engine } = subject;
  await engine.start();
  for (const entries of [20_224, 1024]) {
    await engine.change(compilePlan(corefile(entries)));
    fill(findKeeper(subject), 20_224);
    fill(findKeeper(subject), 4000, 'denial');
    // Entries are counted where one was asked for.
    await subject.askChain(encodeQuery('own.example'));
    expect(await countByMetric(subject)).toEqual([`success ${entries}`, `denial ${Math.min(entries, 4000)}`]);
  }
});
