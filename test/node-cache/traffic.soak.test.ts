/**
 * Packets with kube-proxy's rules for the same Service: which are tracked, who answers them, and the delay while another program
 * holds the xtables lock.
 */

import { once } from 'node:events';
import { join } from 'node:path';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, it } from 'vitest';
import { CLUSTER_DNS, keepRunning, startClusterDns } from './cluster-dns.ts';
import { describeOnNode } from './namespace.ts';
import { LINK_LOCAL, type Scene, SERVICE, useScene } from './scene.ts';

const scene = useScene();

/** A DNS server of the cluster, and the rules that kube-proxy has for its Service in iptables mode. */
async function addCluster(at: Scene): Promise<void> {
  await startClusterDns(at, 36053);
  const nat = (...words: readonly string[]) => at.node.run('iptables', '-t', 'nat', ...words);
  await nat('-N', 'KUBE-SERVICES');
  for (const chain of ['PREROUTING', 'OUTPUT']) await nat('-A', chain, '-j', 'KUBE-SERVICES');
  const match = ['-d', `${SERVICE}/32`, '-p', 'udp', '--dport', '36053'];
  // As the default route of a node: without any, nothing is sent that could be translated.
  await at.node.run('ip', 'route', 'add', '10.96.0.0/12', 'dev', 'lo');
  await nat('-A', 'KUBE-SERVICES', ...match, '-j', 'DNAT', '--to-destination', `${CLUSTER_DNS}:36053`);
}

/** A pod of the node: a network of its own, behind a pair of interfaces. @returns the command to run others there */
async function addPod(at: Scene): Promise<readonly string[]> {
  const pod = await keepRunning(
    at,
    'unshare',
    '-n',
    'sh',
    '-c',
    'ip link set lo up && echo ready && exec cat',
  );
  const { node } = at;
  await node.run(
    'ip',
    'link',
    'add',
    'pod',
    'type',
    'veth',
    'peer',
    'name',
    'eth0',
    'netns',
    String(pod.pid),
  );
  await node.run('ip', 'addr', 'add', '10.244.0.1/24', 'dev', 'pod');
  await node.run('ip', 'link', 'set', 'pod', 'up');
  const inside = ['nsenter', `--target=${pod.pid}`, '--net', '--'];
  await node.run(...inside, 'ip', 'addr', 'add', '10.244.0.2/24', 'dev', 'eth0');
  await node.run(...inside, 'ip', 'link', 'set', 'eth0', 'up');
  await node.run(...inside, 'ip', 'route', 'add', 'default', 'via', '10.244.0.1');
  return inside;
}

/** Counts packets that begin a connection which the kernel tracks. */
const COUNTED = [
  `ip daddr { ${LINK_LOCAL}, ${SERVICE} } udp dport 36053 ct state new counter name local`,
  `ip daddr ${CLUSTER_DNS} udp dport 36053 ct state new counter name other`,
].join('; ');
const CHAINS = ['prerouting', 'output'].map(
  (hook) => `chain ${hook} { type filter hook ${hook} priority -150; ${COUNTED}; }`,
);
const COUNTERS = `table inet count { counter local {}; counter other {}; ${CHAINS.join('; ')}; }`;

async function countTracked({ node }: Scene): Promise<Readonly<Record<string, number>>> {
  const text = await node.run('nft', 'list', 'counters', 'table', 'inet', 'count');
  const counters = [...text.matchAll(/counter (\w+) \{\s+packets (\d+)/g)];
  return Object.fromEntries(counters.map(([, name, packets]) => [name, Number(packets)]));
}

describeOnNode('queries to the address of the Service', () => {
  it.each(['nft', 'iptables'] as const)(
    'are answered here and not tracked, and reach the cluster when the program is killed (%s)',
    async (rules) => {
      const at = scene();
      await addCluster(at);
      const pod = await addPod(at);
      expect(await at.ask(SERVICE)).toBe('answered by the cluster');
      expect(await at.ask(SERVICE, pod)).toBe('answered by the cluster');
      const running = at.run(`${LINK_LOCAL},${SERVICE}`, [`--rules=${rules}`]);
      await waitUntil('answers here', async () => (await at.ask(SERVICE)) === 'answered');
      await waitUntil('answers for pods', async () => (await at.ask(SERVICE, pod)) === 'answered');
      await at.node.run('nft', COUNTERS);
      for (const through of [[], pod])
        for (const address of [LINK_LOCAL, SERVICE]) expect(await at.ask(address, through)).toBe('answered');
      expect(await at.ask(CLUSTER_DNS, pod)).toBe('answered by the cluster');
      expect(await countTracked(at)).toEqual({ local: 0, other: 1 });
      running.signal('SIGKILL');
      await running.exit;
      await waitUntil(
        'answers of the cluster',
        async () => (await at.ask(SERVICE)) === 'answered by the cluster',
      );
      expect(await at.ask(SERVICE, pod)).toBe('answered by the cluster');
    },
  );
});

describeOnNode('a lock of xtables that another program holds for half a minute', () => {
  it('delays the rules alone: queries are answered, and it is counted', async () => {
    const at = scene();
    const lock = join(at.folder.path, 'xtables.lock');
    const environment = { XTABLES_LOCKFILE: lock };
    // The variant with the rules of kube-proxy, which is also the one with a lock.
    await at.node.run('env', `XTABLES_LOCKFILE=${lock}`, 'iptables-legacy', '-N', 'KUBE-SERVICES');
    const holder = await keepRunning(at, 'flock', lock, 'sh', '-c', 'echo ready && exec cat');
    const running = at.run(LINK_LOCAL, ['--rules=iptables'], { environment });
    await waitUntil('answers', async () => (await at.ask(LINK_LOCAL)) === 'answered');
    const failures = async () => {
      const text = await at.fetch('http://127.0.0.1:36353/metrics');
      return Number(/setup_errors_total\{errortype="iptables_lock"\} (\d+)/.exec(text)?.[1]);
    };
    // Each has waited for five seconds: half a minute in all.
    for (const count of [1, 2, 3, 4, 5, 6]) {
      await waitUntil(`failure ${count}`, async () => (await failures()) >= count);
      expect(await at.ask(LINK_LOCAL)).toBe('answered');
    }
    expect(await at.node.iptables('iptables-legacy')).toEqual([]);
    holder.stdin?.end();
    await once(holder, 'exit');
    await waitUntil('all rules', async () => (await at.node.iptables('iptables-legacy')).length === 12);
    // Killed it would leave an iptables that makes the file of the lock again while the folder is removed.
    running.signal('SIGTERM');
    await running.exit;
    expect(await at.node.iptables('iptables-legacy')).toEqual([]);
  }, 180_000);
});
