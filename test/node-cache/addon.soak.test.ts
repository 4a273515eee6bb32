/**
 * The addon nodelocaldns of Kubernetes with only the image replaced by ours, on a node in iptables mode: its DaemonSet, filled in
 * as its installer does.
 */

import { readFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { resolveAlias } from '@portolan/cli/program-aliases.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Program } from '@portolan/testing/program.ts';
import { expect, it } from 'vitest';
import { type Container, type DeploymentManifest, type Manifest, readLayout } from '../deploy/manifests.ts';
import { runPortolan } from '../support/portolan.ts';
import { readRecording } from '../support/recordings.ts';
import { CLUSTER_DNS, startClusterDns } from './cluster-dns.ts';
import { describeOnNode } from './namespace.ts';
import { LINK_LOCAL, type Scene, SERVICE, useScene } from './scene.ts';

const scene = useScene();

/** Facts of cluster/addons/dns/nodelocaldns: what the container is started with, and where its ports and folders are. */
const ADDON = {
  args: [
    '-localip',
    `${LINK_LOCAL},${SERVICE}`,
    '-conf',
    '/etc/Corefile',
    '-upstreamsvc',
    'kube-dns-upstream',
    '-pidfile',
    '/tmp/node-cache.pid',
  ],
  health: `http://${LINK_LOCAL}:8080/health`,
  metrics: 'http://127.0.0.1:9253/metrics',
  setupMetrics: 'http://127.0.0.1:9353/metrics',
} as const;

/** Its template, with the variables that are left for the program. */
function readTemplate(): string {
  interface RecordedCase {
    readonly name: string;
    readonly template: string;
  }
  const cases = readRecording<RecordedCase>('test/node-cache/recordings/rendering.jsonl');
  return cases.find(({ name }) => name === 'official-iptables-installed')?.template ?? '';
}

/** Starts the program with `etc` of the test's folder in place of `/etc`. */
async function startWithEtc(
  { node, folder }: Scene,
  template: string,
  words: readonly string[],
): Promise<Program> {
  const etc = join(folder.path, 'etc');
  await folder.write('etc/coredns/Corefile.base', template);
  await folder.write('etc/resolv.conf', `nameserver ${CLUSTER_DNS}\n`);
  await mkdir(join(etc, 'kube-dns'));
  // Where iptables leads to.
  await cp('/etc/alternatives', join(etc, 'alternatives'), { recursive: true, verbatimSymlinks: true });
  const args = words.map((word) => word.replace(/^\/(tmp|run\/portolan)\//, `${folder.path}/`));
  const script = 'mount --bind "$0" /etc && exec "$@"';
  return runPortolan(resolveAlias('/node-cache', args), {
    environment: { KUBE_DNS_UPSTREAM_SERVICE_HOST: CLUSTER_DNS },
    through: [...node.through, 'unshare', '-m', 'sh', '-c', script, etc],
  });
}

describeOnNode('the addon nodelocaldns with our image', () => {
  it('answers at both addresses, has health and metrics, and leaves nothing behind', async () => {
    const { node, folder, fetch, dig } = scene();
    await startClusterDns(scene(), 53);
    const running = await startWithEtc(scene(), readTemplate(), ADDON.args);
    await waitUntil('the pidfile', async () => running.output.includes('CoreDNS-'));
    for (const address of [LINK_LOCAL, SERVICE]) {
      expect(await dig(address, 'kubernetes.default.svc.cluster.local')).toBe('192.0.2.53');
      expect(await dig(address, 'www.example')).toBe('192.0.2.53');
    }
    expect(await fetch(ADDON.health)).toBe('OK');
    for (const url of [ADDON.metrics, ADDON.setupMetrics]) {
      const metrics = await fetch(url);
      expect(metrics).toContain('coredns_nodecache_setup_errors_total{errortype="iptables"} 0');
      expect(metrics).toMatch(/coredns_cache_misses_total\{.*zones="cluster\.local\."/);
      expect(metrics).toContain('process_resident_memory_bytes ');
    }
    expect(readFileSync(join(folder.path, 'node-cache.pid'), 'utf8').trim()).toMatch(/^\d+$/);
    await waitUntil('the table', async () => (await node.nftables()).length === 1);
    running.signal('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect(await node.nftables()).toEqual([]);
    expect(await node.run('ip', '-o', 'addr', 'show')).not.toContain(LINK_LOCAL);
  });
});

describeOnNode('our manifest', () => {
  it.each([
    ['node-local', [LINK_LOCAL, SERVICE]],
    ['node-local-ipvs', [LINK_LOCAL]],
  ] as const)('of %s sets up its addresses and no other', async (layout, local) => {
    const { node, folder, dig, fetch } = scene();
    await startClusterDns(scene(), 53);
    // In IPVS mode kube-proxy has the address of the Service on an interface of the node.
    await node.run('ip', 'link', 'add', 'kube-ipvs0', 'type', 'bridge');
    if (layout === 'node-local-ipvs')
      await node.run('ip', 'addr', 'add', `${SERVICE}/32`, 'dev', 'kube-ipvs0');
    const before = await node.run('ip', '-o', 'addr', 'show');
    const objects = readLayout(layout);
    const { args } = onlyContainer(objects);
    const running = await startWithEtc(scene(), findCorefile(objects), args);
    await waitUntil('the table', async () => (await node.nftables()).length === 1);
    // What the start probe looks for.
    expect(readFileSync(join(folder.path, 'pid'), 'utf8')).toMatch(/^\d+\n$/);
    const rules = await node.run('nft', 'list', 'ruleset');
    expect(rules.includes(SERVICE)).toBe(local.length === 2);
    for (const address of local)
      expect(await dig(address, 'kubernetes.default.svc.cluster.local')).toBe('192.0.2.53');
    expect(await fetch(ADDON.health)).toBe('OK');
    running.signal('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect(await node.nftables()).toEqual([]);
    expect(await node.run('ip', '-o', 'addr', 'show')).toBe(before);
  });
});

type DaemonSet = Manifest & Pick<DeploymentManifest, 'spec'>;

function onlyContainer(objects: readonly Manifest[]): Container {
  const [container] =
    (objects.find(({ kind }) => kind === 'DaemonSet') as DaemonSet | undefined)?.spec.template.spec
      .containers ?? [];
  if (container === undefined) throw new Error('no container');
  return container;
}

function findCorefile(objects: readonly Manifest[]): string {
  const map = objects.find(({ kind }) => kind === 'ConfigMap') as Manifest & { data: { Corefile: string } };
  return map.data.Corefile;
}
