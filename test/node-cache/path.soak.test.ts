/**
 * `portolan node-cache` proves the way of packets of pods: what it does where a packet filter of the node drops them, and where it cannot
 * be proven.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, it } from 'vitest';
import { itWithTool } from '../support/tools.ts';
import { ALL_ANSWERED, askFromPod } from './hardening.ts';
import { describeOnNode } from './namespace.ts';
import { LINK_LOCAL, type Scene, SERVICE, useScene } from './scene.ts';

const scene = useScene();

const IPV6 = ['fd00::10', 'fd00:10:96::a'] as const;
const SET = 'packet filter rules set';
/** As firewalld drops: no other table can accept what this one drops. */
const FIREWALL =
  'table inet firewall { chain input { type filter hook input priority 10; policy drop; iif lo accept; meta l4proto ipv6-icmp accept; }; }';

/** The pairs of interfaces for probes. */
async function countPairs({ node }: Scene): Promise<number> {
  return (
    (await node.run('ip', '-o', 'link', 'show', 'type', 'veth')).match(/: portolan[0-9a-f]{4}n@/g)?.length ??
    0
  );
}

describeOnNode('the way of packets of pods', () => {
  itWithTool(
    'dig',
    'is proven for addresses of both families, in one table, and its pair of interfaces goes in the end',
    async () => {
      const pod = await scene().node.addPod();
      const running = scene().run([LINK_LOCAL, SERVICE, ...IPV6].join(','), []);
      await waitUntil('the rules', async () => running.output.includes('probes on the way of pods'));
      expect(running.output).not.toContain('over lo');
      expect(await scene().node.nftables()).toHaveLength(1);
      for (const addresses of [[LINK_LOCAL, SERVICE] as const, IPV6])
        expect(await askFromPod(scene(), pod, addresses)).toEqual(ALL_ANSWERED);
      expect(await countPairs(scene())).toBe(1);
      running.signal('SIGTERM');
      expect(await running.exit).toEqual({ code: 0, signal: null });
      expect(await countPairs(scene())).toBe(0);
      expect(await scene().node.nftables()).toEqual([]);
    },
  );

  it('has the rules of the original in iptables of both families, and no others in the end', async () => {
    const { node, run } = scene();
    const counts = async () => [(await node.iptables()).length, (await node.iptables('ip6tables')).length];
    const running = run([LINK_LOCAL, ...IPV6].join(','), ['--rules=iptables']);
    await waitUntil('the rules', async () => running.output.includes(SET));
    expect(await counts()).toEqual([12, 24]);
    running.signal('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect(await counts()).toEqual([0, 0]);
  });

  itWithTool(
    'dig',
    'is not diverted where a firewall of nftables drops it, and is once it no longer does',
    async () => {
      const { node, run, fetch } = scene();
      await node.run('nft', FIREWALL);
      const running = run(`${LINK_LOCAL},${SERVICE}`, ['-syncinterval', '1']);
      await waitUntil('the reason', async () => running.output.includes('packets of pods get no answer'));
      expect(running.output).toContain(`${LINK_LOCAL} over `);
      expect(await node.nftables()).toEqual([]);
      expect(await fetch('http://127.0.0.1:36353/metrics')).not.toContain('portolan_nodecache_rules{');
      await node.run('nft', 'delete table inet firewall');
      await waitUntil('the rules', async () => running.output.includes(SET));
      const pod = await node.addPod();
      expect(await askFromPod(scene(), pod)).toEqual(ALL_ANSWERED);
      expect(await fetch('http://127.0.0.1:36353/metrics')).toMatch(
        /^portolan_nodecache_rules\{filter="nftables",probe="path"\} 1$/m,
      );
    },
  );

  itWithTool('dig', 'is given back to the Service when a firewall begins to drop it', async () => {
    const { node, run } = scene();
    const running = run(`${LINK_LOCAL},${SERVICE}`, []);
    await waitUntil('the rules', async () => running.output.includes('probes on the way of pods'));
    await node.run('nft', FIREWALL);
    await waitUntil('the reason', async () => running.output.includes('rules removed'));
    expect(await node.nftables()).toEqual([]);
    expect(running.ended).toBeUndefined();
  });

  itWithTool(
    ['dig', 'setpriv'],
    'is left unproven without NET_RAW: rules are set, as the original sets them',
    async () => {
      const { node, run, fetch } = scene();
      const inside = ['setpriv', '--bounding-set=-net_raw', '--inh-caps=-net_raw', '--'];
      const running = run(`${LINK_LOCAL},${SERVICE}`, [], { inside });
      await waitUntil('the rules', async () => running.output.includes(SET));
      await waitUntil('the way', async () => running.output.includes('over lo'));
      expect(running.output).toContain('cannot open a packet socket: EPERM');
      const pod = await node.addPod();
      expect(await askFromPod(scene(), pod)).toEqual(ALL_ANSWERED);
      expect(await fetch('http://127.0.0.1:36353/metrics')).toMatch(
        /^portolan_nodecache_rules\{filter="nftables",probe="lo"\} 1$/m,
      );
      expect(await countPairs(scene())).toBe(0);
    },
  );

  itWithTool('dig', 'is proven by a pair of its own when the last process was killed', async () => {
    const killed = scene().run(`${LINK_LOCAL},${SERVICE}`, []);
    await waitUntil('the rules', async () => killed.output.includes('probes on the way of pods'));
    killed.signal('SIGKILL');
    await killed.exit;
    expect(await countPairs(scene())).toBe(1);
    const running = scene().run(`${LINK_LOCAL},${SERVICE}`, []);
    await waitUntil('the rules', async () => running.output.includes('probes on the way of pods'));
    expect(await countPairs(scene())).toBe(1);
  });
});
