/**
 * Names of our zones are never sent upstream in any role: with an upstream server that knows every name, with prefetching, stale
 * answers and a takeover, no such query leaves and no answer for such a name comes from an upstream.
 *
 * Roles without prefetching and stale answers are also tested with both: the rule does not depend on settings.
 */
import { appendFile } from 'node:fs/promises';
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { isWithin, parseName, toKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { EtcdPlugin } from '@portolan/etcd/plugins/etcd/etcd-plugin.ts';
import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { compileCorefile } from '@portolan/frontends/coredns/settings/compile-corefile.ts';
import { readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { compileDnsmasq } from '@portolan/frontends/dnsmasq/settings/compile-dnsmasq.ts';
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { memorySources } from '@portolan/frontends/dnsmasq/settings/testing/memory-sources.ts';
import { adaptBlocks } from '@portolan/frontends/node-cache/settings/node-cache-blocks.ts';
import { renderCorefile } from '@portolan/frontends/node-cache/settings/render-corefile.ts';
import { compileServe } from '@portolan/frontends/serve/settings/compile-serve.ts';
import { NO_SERVERS } from '@portolan/frontends/serve/settings/resolver-settings.ts';
import type { ServeFlags } from '@portolan/frontends/serve/settings/serve-flags.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { compileSkyDns } from '@portolan/frontends/skydns/settings/compile-skydns.ts';
import { readSkyDnsFlags } from '@portolan/frontends/skydns/settings/skydns-flags.ts';
import { readSettings } from '@portolan/frontends/skydns/settings/skydns-settings.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { makePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import type { Engine } from '@portolan/kernel/engine/engine.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import { mapUses } from '@portolan/kernel/plan/server-blocks-plan.ts';
import type { ServiceObject } from '@portolan/kubernetes/objects/objects.ts';
import { ProcessCluster } from '@portolan/kubernetes/plugins/kubernetes/process-cluster.ts';
import { forward as forwardPlugin } from '@portolan/plugins/forward/plugin.ts';
import { LocalNamesPlugin } from '@portolan/plugins/local-names/local-names.ts';
import { optionsIn, withOptions } from '@portolan/server/plan/testing/with-options.ts';
import { expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { startEtcd } from '../etcd/etcd-server.ts';
import { namespace, service, slice } from '../list-watch/harness.ts';
import { itWithTool } from '../support/tools.ts';
import { expectOursToStay, withRefreshing } from './long-load.ts';
import { YesUpstream } from './yes-upstream.ts';

const key = (text: string): NameKey => toKey(parseName(text));
const within =
  (...zones: readonly string[]) =>
  (name: NameKey) =>
    zones.some((zone) => isWithin(name, key(zone)));
const total = (counts: ReadonlyMap<string, number>, ...questions: readonly string[]) =>
  questions.map((question) => counts.get(question) ?? 0);

/** For what waits for sockets and files, and for timers. */
const stepping = (clock: ManualClock) => ({ step: () => clock.advance(1) });

const TIMEOUT = { timeout: 60_000 };

/** `address=` of dnsmasq lives as long as `local-ttl` says. */
const DNSMASQ_CONF = 'address=/ads.example/192.0.2.66\nlocal-ttl=40\n';

function planOfServe(flags: ServeFlags, command: 'serve' | 'kube-dns'): EnginePlan {
  const sources = memorySources({ files: { '/dnsmasq.conf': DNSMASQ_CONF } });
  const given = { ...flags, upstream: ['192.0.2.53'], dnsmasqConf: '/dnsmasq.conf' };
  const checked = planFromFlags(given, { cores: 2, terminal: false, environment: {} }, sources, command);
  if (checked.kind === 'bad') throw new Error(JSON.stringify(checked.problems));
  const machine = { interfaces: {}, ownAddresses: ['192.0.2.2'] };
  return compileServe(checked.value, NO_SERVERS, machine).engine;
}

const serviceObject = (name: string, address: string): ServiceObject => ({
  kind: 'Service',
  namespace: 'shop',
  name,
  ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
  address: { kind: 'clusterIPs', addresses: [address] },
});

function fillCluster(engine: Engine): void {
  const cluster = engine.find(ProcessCluster)?.cluster;
  if (cluster === undefined) throw new Error('an engine without a cluster');
  const { services, endpoints, namespaces, pods } = cluster;
  const stores = [services, endpoints, namespaces, pods];
  for (const store of stores) store.listStarted();
  namespaces.upsert({ kind: 'Namespace', name: 'shop' });
  services.upsert(serviceObject('cart', '10.96.0.7'));
  for (const store of stores) store.listCompleted();
  cluster.settle();
}

it.each(['serve', 'kube-dns'] as const)('%s', TIMEOUT, async (command) => {
  const plan = planOfServe({}, command);
  // A service gets this address later.
  const refreshing = optionsIn(withRefreshing(plan), forwardPlugin);
  const late = key('88.0.96.10.in-addr.arpa.');
  const isThere = { is: false };
  const given = await expectOursToStay({
    plan: withOptions(plan, forwardPlugin, () => refreshing),
    isOurs: (name) =>
      within('cluster.local.', 'ads.example.', '7.0.96.10.in-addr.arpa.')(name) ||
      (isThere.is && name === late),
    questions: [
      '10-244-88-88.shop.pod.cluster.local. A',
      'http.tcp.cart.shop.svc.cluster.local. A',
      '_http._tcp.cart.shop.svc.cluster.local. SRV',
      'cart.shop.svc.cluster.local. A',
      'cart.shop.svc.cluster.local. ANY',
      'cart.*.svc.cluster.local. A',
      'missing.shop.svc.cluster.local. AAAA',
      'x.ads.example. A',
      '7.0.96.10.in-addr.arpa. PTR',
      '88.0.96.10.in-addr.arpa. PTR',
    ],
    fill: (engine) => {
      fillCluster(engine);
      isThere.is = false;
    },
    changes: {
      40: (engine) => {
        const cluster = engine.find(ProcessCluster)?.cluster;
        cluster?.services.upsert(serviceObject('late', '10.96.0.88'));
        cluster?.settle();
        isThere.is = true;
      },
      130: (engine) => engine.change(withRefreshing(plan)),
    },
  });
  const derived = ['10-244-88-88.shop.pod.cluster.local. A', 'x.ads.example. A'];
  for (const count of total(given, ...derived)) expect(count).toBeGreaterThan(50);
});

itWithTool(
  'etcd',
  'skydns',
  async () => {
    const etcd = await startEtcd();
    const client = new EtcdClient(etcd.settings, systemClock);
    onTestFinished(() => client.close());
    const put = (path: string, value: object) =>
      client.transact({
        conditions: [],
        operations: [
          { kind: 'put', key: Buffer.from(`/skydns/${path}`), value: Buffer.from(JSON.stringify(value)) },
        ],
      });
    await put('test/skydns/web/a', { host: '192.0.2.7', port: 80, ttl: 40 });
    await put('test/skydns/mail', { host: '192.0.2.8', mail: true, ttl: 40 });
    const machines = etcd.members.map(({ url }) => url).join(',');
    const words = [
      '-machines',
      machines,
      '-domain',
      'skydns.test.',
      '-nameservers',
      '192.0.2.53:53',
      '-etcd3',
    ];
    const reading = readSkyDnsFlags(words, {});
    if (reading.kind !== 'flags') throw new Error('no flags');
    const settings = readSettings(reading.read, {});
    if (settings.kind === 'bad') throw new Error(JSON.stringify(settings.problems));
    const inputs = { systemServers: [], stubZones: [] };
    const { engine: plan } = compileSkyDns(settings.settings, inputs, { udpReaders: 1, now: 0 });
    // What it reads of etcd comes in real time.
    const inRealTime = mapUses(plan, (use) =>
      use.name === 'etcd'
        ? {
            ...use,
            definition: {
              name: use.name,
              create: (_, context, former) => makePlugin(use, { ...context, clock: systemClock }, former),
              outlivesPlans: () => true,
            },
          }
        : use,
    );
    const given = await expectOursToStay({
      plan: withRefreshing(inRealTime),
      dependencies: {},
      isOurs: within('skydns.test.'),
      questions: [
        'web.skydns.test. A',
        'web.skydns.test. SRV',
        'mail.skydns.test. MX',
        '*.skydns.test. A',
        'any.web.skydns.test. SRV',
        'missing.skydns.test. A',
        'web.skydns.test. CNAME',
      ],
      fill: (engine) => {
        const source = engine.find(EtcdPlugin)?.source;
        return waitUntil('the keys', () => source?.stats().keys === 2 && source.isKnown);
      },
    });
    expect(total(given, 'mail.skydns.test. MX')[0]).toBeGreaterThan(50);
  },
  TIMEOUT.timeout,
);

it('dnsmasq', TIMEOUT, async () => {
  const folder = await makeTemporaryFolder();
  await folder.write('hosts', '192.0.2.7 web.lan\n');
  const hosts = `${folder.path}/hosts`;
  const words = [
    '--no-hosts',
    '--no-resolv',
    '--server=192.0.2.53',
    `--addn-hosts=${hosts}`,
    '--local=/lan/',
  ];
  words.push('--use-stale-cache', '--local-ttl=40', '--address=/ads.example/192.0.2.66', '--domain-needed');
  words.push('--host-record=set.example,192.0.2.9', '--cname=alias.lan,web.lan', '--local-service=net');
  const reading = readDnsmasqOptions(words, memorySources());
  if (reading.kind !== 'good') throw new Error(JSON.stringify(reading));
  const inputs = { fromResolvFile: [], moreRoutes: [] };
  const { engine: plan } = compileDnsmasq(reading.plan, inputs, { interfaces: {}, udpReaders: 1 });
  const clock = new ManualClock();
  let isThere = false;
  const given = await expectOursToStay({
    clock,
    plan: withRefreshing({ ...plan, blocks: plan.blocks.map((block) => ({ ...block, clients: undefined })) }),
    isOurs: (name) =>
      within('lan.', 'ads.example.', 'set.example.')(name) || (isThere && name === 'late.example.'),
    questions: [
      'web.lan. A',
      'web.lan. AAAA',
      'alias.lan. A',
      'missing.lan. A',
      'x.ads.example. A',
      'set.example. A',
      'plain. A',
      'late.example. A',
    ],
    changes: {
      100: async (engine) => {
        await appendFile(hosts, '192.0.2.8 late.example\n');
        engine.reload();
        const isKnown = () => engine.find(LocalNamesPlugin)?.handlers.mayExist(key('late.example.')) === true;
        await waitUntil('the line of the file', isKnown, stepping(clock));
        isThere = true;
      },
    },
  });
  expect(total(given, 'late.example. A')[0]).toBeGreaterThan(50);
});

function planOfCorefile(corefile: string, adapt = (blocks: Parameters<typeof compileCorefile>[0]) => blocks) {
  const reading = readCorefile(corefile, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    files: DISK_FILES,
    interfaces: new Map(),
  });
  if (reading.kind === 'bad') throw new Error(JSON.stringify(reading.problems));
  return withRefreshing(compileCorefile(adapt(reading.blocks)).engine);
}

const MADE = 'template IN A made.test {\n answer "{{ .Name }} 50 IN A 198.51.100.1"\n fallthrough\n }';

it.each([
  ['coredns', ''],
  // It keeps all answers, and fetches them again itself.
  ['coredns with cache', 'cache {\n prefetch 1 1m 50%\n serve_stale 1h verify\n }'],
])('%s', TIMEOUT, async (_, cache) => {
  const api = await ApiServerDouble.start({
    objects: [namespace('default'), service('web', '10.96.0.10'), slice('web-1', 'web', '10.244.0.7')],
  });
  onTestFinished(() => api.stop());
  const clock = new ManualClock();
  const isOurs = within('cluster.local.', 'made.test.', 'hosts.test.', '10.0.96.10.in-addr.arpa.');
  const upstream = new YesUpstream(clock, isOurs);
  const zones =
    'kubernetes cluster.local in-addr.arpa {\n endpoint URL\n pods insecure\n fallthrough in-addr.arpa\n }';
  const hosts = 'hosts {\n 192.0.2.1 own.hosts.test\n fallthrough\n }';
  const lines = [cache, MADE, hosts, zones.replace('URL', api.url)];
  const given = await expectOursToStay({
    plan: planOfCorefile(
      `.:53 {\n ${lines.join('\n ')}\n forward . 127.0.0.1:${await upstream.listen()}\n}\n`,
    ),
    isOurs,
    questions: [
      'x.made.test. A',
      'own.hosts.test. A',
      'web.default.svc.cluster.local. A',
      '10-244-0-9.default.pod.cluster.local. A',
      '_http._tcp.web.default.svc.cluster.local. SRV',
      '10.0.96.10.in-addr.arpa. PTR',
    ],
    fill: ({ serverBlocks }) =>
      waitUntil('the cluster', () => serverBlocks.notReady(false).length === 0, stepping(clock)),
    clock,
    upstreams: [upstream],
  });
  const derived = ['x.made.test. A', '10-244-0-9.default.pod.cluster.local. A'];
  if (cache === '') for (const count of total(given, ...derived)) expect(count).toBeGreaterThan(50);
});

it('node-cache', TIMEOUT, async () => {
  const clock = new ManualClock();
  const isOurs = within('made.test.', 'node.test.');
  const upstream = new YesUpstream(clock, within('cluster.local.', 'made.test.', 'node.test.'));
  // It answers for the cluster, and knows all its names.
  const clusterDns = new YesUpstream(clock, isOurs);
  const ports = { upstream: await upstream.listen(), clusterDns: await clusterDns.listen() };
  const template = `cluster.local:53 {\n cache {\n success 9984 30\n denial 9984 5\n }\n forward . __PILLAR__CLUSTER__DNS__\n}
made.test:53 {\n ${MADE}\n}
.:53 {\n cache 30\n ${MADE.replaceAll('made.test', 'node.test')}\n forward . __PILLAR__UPSTREAM__SERVERS__\n}\n`;
  const { text } = renderCorefile(template, {
    localAddresses: ['169.254.20.10'],
    port: '53',
    prometheusAddress: '',
    stubDomains: new Map(),
    clusterDns: `127.0.0.1:${ports.clusterDns}`,
    upstreams: [`127.0.0.1:${ports.upstream}`],
  });
  const given = await expectOursToStay({
    plan: planOfCorefile(text, adaptBlocks),
    isOurs,
    questions: ['x.made.test. A', 'x.made.test. AAAA', 'x.node.test. A', 'cart.shop.svc.cluster.local. A'],
    clock,
    upstreams: [upstream, clusterDns],
  });
  for (const count of total(given, 'x.made.test. A', 'x.node.test. A')) expect(count).toBeGreaterThan(50);
});
