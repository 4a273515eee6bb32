/**
 * The common test suite of all layouts of the kube-dns pod. Each layout has a test file of its own, so that they wait for their
 * probes in parallel.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { readQuestions } from '../golden/recorded-answer.ts';
import { bundleBurstLoad } from '../support/bundle-thread.ts';
import { itWhere, itWithTool } from '../support/tools.ts';
import { buildClient } from './c-library.ts';
import { underLoad } from './change-load.ts';
import { digAll } from './dig-batch.ts';
import { expectedAtFront, heard } from './golden-answers.ts';
import type { LayoutName } from './layouts.ts';
import { Pod } from './pod.ts';
import { fetchStatus, pick, untilProbes } from './probes.ts';
import { missingSeries, scrape } from './scrape.ts';
import { mayServeDnsPort, NAMED_SERVER, SHARED_DOMAIN, startNamedServer } from './upstream.ts';

const run = promisify(execFile);
const PROBED = 'kubernetes.default.svc.cluster.local';
/** The default of both `--config-period` and `-syncInterval`. */
const SYNC_PERIOD = { timeout: 10_000, interval: 20 };
const SOON = { timeout: 30_000, interval: 100 };

const LONG = { timeout: 120_000 };

/** Those whose deaths the other layouts do not show. */
const MORTALS: Readonly<Record<LayoutName, readonly string[]>> = {
  'three containers': ['kubedns', 'dnsmasq', 'sidecar'],
  'the original dnsmasq between ours': ['dnsmasq'],
  'one container': ['portolan'],
};

type GetPod = () => Pod;

export function definePodTests(layout: LayoutName): void {
  let pod: Pod;
  beforeAll(async () => {
    pod = await Pod.start(layout);
  }, 120_000);

  testClients(layout, () => pod);
  testStats(() => pod);
  // The original takes in a change by a restart, which its own nanny does to it.
  if (layout !== 'the original dnsmasq between ours') {
    testChanges(() => pod);
    testNamedServer(() => pod);
  }
  if (layout === 'three containers') testLateApiServer(() => pod);
  for (const part of MORTALS[layout]) testDeath(part, () => pod);
}

function testClients(layout: LayoutName, pod: GetPod): void {
  for (const transport of ['+notcp', '+tcp'])
    itWithTool('dig', `dig ${transport} hears the golden answers`, async () => {
      const answers = (await digAll(pod().layout.front, readQuestions(), transport)).map(heard);
      expect(answers).toEqual(expectedAtFront(layout, answers));
    });

  itWithTool('busybox', "busybox's nslookup finds the API server", async () => {
    const { address, port } = pod().layout.front;
    const { stdout } = await run('busybox', ['nslookup', PROBED, `${address}:${port}`]);
    expect(stdout).toMatch(new RegExp(`Name:\\s+${PROBED}\nAddress:\\s+10\\.96\\.0\\.1\n`));
  });

  itWithTool('gcc', 'the C library finds it by the search path, and the name of the server', async () => {
    const lookUp = await buildClient();
    const { front } = pod().layout;
    for (const name of ['kubernetes', 'kubernetes.default', PROBED])
      expect(await lookUp(front, '10.96.0.10', name)).toEqual([
        'kube-dns.kube-system.svc.cluster.local',
        '10.96.0.1',
      ]);
    await expect(lookUp(front, '10.96.0.10', 'nobody.shop.svc.cluster.local.')).rejects.toMatchObject({
      code: 1,
    });
  });

  it.each(['udp', 'tcp'] as const)('a client is answered by %s', async (transport) => {
    const { front } = pod().layout;
    const addresses = await askShort(front, 'db.data.svc.cluster.local', 'A', { transport });
    expect(addresses).toBe('10.244.1.20 10.244.2.20');
    expect(await askShort(front, 'www.test', 'A', { transport })).toBe('192.0.2.1');
  });
}

/** Two services of a namespace in the nesting of kube-dns. */
const SERVICES = { ChildNodes: { cart: expect.anything() }, Entries: { ext: { host: 'www.example.com' } } };
const SHOP = { ChildNodes: { shop: SERVICES } };
const ZONE = { ChildNodes: { local: { ChildNodes: { cluster: { ChildNodes: { svc: SHOP } } } } } };

function testStats(pod: GetPod): void {
  it('metrics are valid, and hold every series of the originals', async () => {
    const { front, metrics } = pod().layout;
    expect(await askShort(front, 'nobody.shop.svc.cluster.local', 'A')).toBe('NXDOMAIN');
    expect(await askShort(front, '9.9.9.10.in-addr.arpa', 'PTR')).toBe('REFUSED');
    expect(missingSeries('test/metrics/kube-dns.txt', await scrape(metrics.kubedns))).toEqual([]);
    expect(missingSeries('test/sidecar/recorded-metrics.txt', await scrape(metrics.sidecar))).toEqual([]);
    expect((await scrape(metrics.own)).get('portolan_build_info')?.samples).toHaveLength(1);
  });

  it('the zone can be looked at as JSON', async () => {
    const zone = await (await fetch(pod().layout.cache)).json();
    expect(zone).toMatchObject(ZONE);
  });
}

function testChanges(pod: GetPod): void {
  it('a change of the ConfigMap reaches clients in time, and no query is lost', LONG, async () => {
    const { front } = pod().layout;
    const { first, second } = pod().outside;
    const stubsAt = ({ address }: { readonly address: string }) =>
      JSON.stringify({ 'acme.test': [address], [SHARED_DOMAIN.name]: [address] });
    const upstreamNameservers = JSON.stringify([second.address]);
    const told = async () => [
      await askShort(front, 'www.acme.test', 'A'),
      await askShort(front, 'www.test', 'A'),
    ];
    const change = async (data: Readonly<Record<string, string>>, expected: readonly string[]) => {
      await pod().configure(data);
      await expect.poll(told, SYNC_PERIOD).toEqual(expected);
    };
    const load = await bundleBurstLoad();
    await underLoad(load, front, async () => {
      expect(await told()).toEqual(['192.0.2.1', '192.0.2.1']);
      await change({ stubDomains: stubsAt(second) }, ['192.0.2.2', '192.0.2.1']);
      await change({ upstreamNameservers }, ['192.0.2.2', '192.0.2.2']);
      await change({ stubDomains: stubsAt(first), upstreamNameservers }, ['192.0.2.1', '192.0.2.2']);
      await pod().configure({ stubDomains: '{"acme.test":' });
      await expect.poll(() => holdsLastGood(pod()), SYNC_PERIOD).toBe(true);
      expect(await told()).toEqual(['192.0.2.1', '192.0.2.2']);
      await change({ stubDomains: stubsAt(second), upstreamNameservers }, ['192.0.2.2', '192.0.2.2']);
      await change({}, ['192.0.2.1', '192.0.2.1']);
    });
  });
}

function testNamedServer(pod: GetPod): void {
  itWhere(
    mayServeDnsPort,
    'port 53',
    'the server of a stub domain may be a Service, by its name',
    async () => {
      await startNamedServer('192.0.2.3', onTestFinished);
      const name = { name: 'dns', namespace: 'acme' };
      pod().apiServer.put({ kind: 'Service', metadata: name, spec: { clusterIP: NAMED_SERVER.address } });
      await pod().configure({ stubDomains: '{"acme.test": ["dns.acme.svc.cluster.local"]}' });
      await expect.poll(() => askShort(pod().layout.front, 'www.acme.test', 'A'), SOON).toBe('192.0.2.3');
      await pod().configure({});
      pod().apiServer.delete('Service', name.name, name.namespace);
    },
  );
}

/** Whether all parts that read the ConfigMap have said that it is bad now. */
async function holdsLastGood({ layout }: Pod): Promise<boolean> {
  const stats = await scrape(layout.metrics.own);
  const dnsmasq = layout.parts.find(({ name }) => name === 'dnsmasq');
  const isHeldByDnsmasq = dnsmasq === undefined || dnsmasq.said.includes('keeping the last good one');
  return isHeldByDnsmasq && stats.get('portolan_config_last_good')?.samples[0]?.value === 1;
}

function testLateApiServer(pod: GetPod): void {
  it(
    'while kubedns waits for its API server it is not ready, and names outside are answered',
    LONG,
    async () => {
      const { layout, apiServer } = pod();
      const kubedns = layout.parts.find(({ name }) => name === 'kubedns');
      await kubedns?.kill();
      await apiServer.stop();
      kubedns?.start();
      await expect.poll(() => fetchStatus(layout.probes['kubedns readiness'] ?? ''), SOON).toBe(503);
      expect(await askShort(layout.front, 'late.test', 'A')).toBe('192.0.2.1');
      await apiServer.listen();
      await pod().untilHealthy();
      expect(await askShort(layout.front, PROBED, 'A')).toBe('10.96.0.1');
    },
  );
}

function testDeath(name: string, pod: GetPod): void {
  it(`when ${name} dies the probes say so, until it is back`, LONG, async () => {
    const { parts, probes, missed, front } = pod().layout;
    const part = parts.find((candidate) => candidate.name === name);
    const concerned = missed[name] ?? [];
    const others = Object.keys(probes).filter((probe) => !concerned.includes(probe));
    await part?.kill();
    await untilProbes(pick(probes, concerned), 'unhealthy');
    await untilProbes(pick(probes, others), 'healthy');
    part?.start();
    await pod().untilHealthy();
    expect((await ask(front, PROBED, 'A')).header.rcode).toBe(0);
  });
}
