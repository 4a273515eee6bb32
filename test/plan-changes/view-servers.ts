/**
 * The front ends whose plans have one view: `serve`, `kube-dns`, `dnsmasq` and `skydns`.
 */
import { parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import { EtcdPlugin } from '@portolan/etcd/plugins/etcd/etcd-plugin.ts';
import { DnsmasqFrontEnd } from '@portolan/frontends/dnsmasq/run/dnsmasq-front-end.ts';
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { memorySources } from '@portolan/frontends/dnsmasq/settings/testing/memory-sources.ts';
import { ServeFrontEnd } from '@portolan/frontends/serve/run/serve-front-end.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { SkyDnsFrontEnd } from '@portolan/frontends/skydns/run/skydns-front-end.ts';
import { readSkyDnsFlags } from '@portolan/frontends/skydns/settings/skydns-flags.ts';
import { readSettings } from '@portolan/frontends/skydns/settings/skydns-settings.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { LocalNamesPlugin } from '@portolan/plugins/local-names/local-names.ts';
import type { FrontEnd } from '@portolan/server/front-end.ts';
import { ADDRESS, type ChangingServer, replaceFile, type Scene } from './scene.ts';

export async function startServe(scene: Scene): Promise<ChangingServer> {
  const [port, upstream, folder] = [
    await findFreePort(ADDRESS),
    await scene.startUpstream(),
    await makeTemporaryFolder(),
  ];
  const frontEnd = makeServeFrontEnd(scene, port, { example: true, configDir: folder.path }, 'serve');
  const change = async (index: number) => {
    for (const [key, text] of Object.entries(makeConfigMapData(index, upstream)))
      await replaceFile(`${folder.path}/${key}`, text);
  };
  await change(0);
  return await scene.serve({
    frontEnd,
    port,
    change,
    names: ['cart.shop.svc.cluster.local', ...LOCAL_NAMES],
  });
}

export async function startKubeDns(scene: Scene): Promise<ChangingServer> {
  const [port, upstream, cluster] = [
    await findFreePort(ADDRESS),
    await scene.startUpstream(),
    await scene.startCluster(),
  ];
  const flags = { kubeMasterUrl: cluster.url, configMap: 'kube-dns' };
  const frontEnd = makeServeFrontEnd(scene, port, flags, 'kube-dns');
  const metadata = { name: 'kube-dns', namespace: 'kube-system' };
  const change = (index: number) =>
    cluster.put({ kind: 'ConfigMap', metadata, data: makeConfigMapData(index, upstream) });
  await change(0);
  return await scene.serve({
    frontEnd,
    port,
    change,
    names: ['web.default.svc.cluster.local', ...LOCAL_NAMES],
  });
}

const LOCAL_NAMES = ['n0.v1.example', 'x.rule.example', 'outside.example', 'x.stub.example'];

function makeConfigMapData(index: number, upstream: string): Readonly<Record<string, string>> {
  const zone = `v${index}.stub.example`;
  return {
    stubDomains: JSON.stringify({ 'stub.example': [upstream], [zone]: [upstream] }),
    upstreamNameservers: JSON.stringify([upstream]),
    federations: `fed${index}=fed.example`,
  };
}

function makeServeFrontEnd(
  { following }: Scene,
  port: number,
  flags: Parameters<typeof planFromFlags>[0],
  command: 'serve' | 'kube-dns',
): FrontEnd {
  const own = {
    dnsBindAddress: [ADDRESS],
    dnsPort: String(port),
    healthzPort: `${ADDRESS}:0`,
    lameduck: '0s',
  };
  const pod = { prometheusPort: 'none', sidecarPort: 'none', resolvFile: '/dev/null' };
  const machine = { cores: 2, terminal: false, environment: {} };
  const checked = planFromFlags({ ...own, ...pod, ...flags }, machine, memorySources(), command);
  if (checked.kind === 'bad') throw new Error(JSON.stringify(checked.problems));
  return new ServeFrontEnd(checked.value, following);
}

export async function startDnsmasq(scene: Scene): Promise<ChangingServer> {
  const port = await findFreePort(ADDRESS);
  const upstream = await scene.startUpstream();
  const words = [
    '--no-resolv',
    '--no-hosts',
    '-k',
    `--port=${port}`,
    '--bind-interfaces',
    `--listen-address=${ADDRESS}`,
  ];
  const reading = readDnsmasqOptions(
    [...words, `--server=${upstream.replace(':', '#')}`, '--log-queries'],
    memorySources(),
  );
  if (reading.kind !== 'good') throw new Error(JSON.stringify(reading));
  const { clock, log, version } = scene.dependencies;
  const frontEnd = new DnsmasqFrontEnd(reading.plan, {
    interfaces: () => ({}),
    udpReaders: 1,
    version,
    clock,
    log,
    findHostsFile: (record) => scene.engine.find(LocalNamesPlugin)?.handlers.findHostsFile(record),
  });
  const server = parseUpstream(upstream);
  if (server === undefined) throw new Error(`no address: ${upstream}`);
  const change = (index: number) =>
    frontEnd.followNanny({
      replacesResolvFiles: index % 2 === 0,
      rules: [
        {
          names: [
            { kind: 'domain', name: index % 2 === 0 ? ROOT : toKey(parseName(`v${index}.stub.example.`)) },
          ],
          target: { kind: 'servers', servers: [{ address: server, queriesPerSecond: undefined }] },
        },
      ],
    });
  return await scene.serve({ frontEnd, port, change, names: LOCAL_NAMES });
}

export async function startSkyDns(scene: Scene): Promise<ChangingServer> {
  const [port, upstream, { etcd, put }] = [
    await findFreePort(ADDRESS),
    await scene.startUpstream(),
    await scene.startEtcd(),
  ];
  const reading = readSkyDnsFlags(
    [
      '-machines',
      etcd.first.url,
      '-etcd3',
      '-addr',
      `${ADDRESS}:${port}`,
      '-domain',
      'skydns.test.',
      '-nameservers',
      upstream,
    ],
    {},
  );
  if (reading.kind !== 'flags') throw new Error(reading.kind);
  const settings = readSettings(reading.read, {});
  if (settings.kind === 'bad') throw new Error(JSON.stringify(settings.problems));
  const frontEnd = new SkyDnsFrontEnd(settings.settings, settings.settings, {
    udpReaders: 1,
    ...scene.dependencies,
  });
  const change = (index: number) =>
    put(
      '/skydns/config',
      JSON.stringify({ nameservers: [upstream], ndots: 2, read_timeout: 2e9 + index * 1e6 }),
    );
  const follow = () => {
    const zones = scene.engine.find(EtcdPlugin);
    if (zones !== undefined) frontEnd.follow(zones.source);
  };
  return await scene.serve({ frontEnd, port, change, names: ['a.skydns.test', ...LOCAL_NAMES] }, follow);
}
