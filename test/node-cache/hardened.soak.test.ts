/**
 * `portolan node-cache` on a node whose iptables drop unknown packets, in each variant, with questions from a pod.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect } from 'vitest';
import { itWithTool } from '../support/tools.ts';
import { ALL_ANSWERED, askFromPod, DROP, harden, rulesOfCache, type Variant } from './hardening.ts';
import { describeOnNode } from './namespace.ts';
import { LINK_LOCAL, SERVICE, useScene } from './scene.ts';

const scene = useScene();

const SET = 'packet filter rules set';
const IPV6 = ['fd00::10', 'fd00:10:96::a'] as const;
const CASES: readonly (readonly [Variant, ...string[]])[] = [
  ['iptables-nft', DROP],
  ['iptables-nft', '-A OUTPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT', '-A OUTPUT ! -o lo -j REJECT'],
  ['iptables-legacy', DROP],
  ['ip6tables', DROP],
];

describeOnNode('a pod of a node that drops unknown packets', () => {
  for (const [program, ...lines] of CASES)
    itWithTool([program, 'dig'], `has all its questions answered: ${program} ${lines}`, async () => {
      const { node, run } = scene();
      const pod = await node.addPod();
      await harden(scene(), program, ...lines);
      const before = await node.iptables(program);
      const addresses = program === 'ip6tables' ? IPV6 : ([LINK_LOCAL, SERVICE] as const);
      const running = run(addresses.join(','), []);
      await waitUntil('the rules', async () => running.output.includes(SET));
      expect(await askFromPod(scene(), pod, addresses)).toEqual(ALL_ANSWERED);
      const accepts = await rulesOfCache(scene(), program);
      expect(accepts).toHaveLength(8);
      expect(accepts.every((rule) => rule.startsWith('filter:') && rule.endsWith('-j ACCEPT'))).toBe(true);
      // What would keep pods from the Service ends with the process.
      expect(await node.nftables()).toHaveLength(1);
      running.signal('SIGTERM');
      expect(await running.exit).toEqual({ code: 0, signal: null });
      expect(await node.iptables(program)).toEqual(before);
      expect(await node.nftables()).toEqual([]);
    });

  itWithTool(['iptables-legacy', 'dig'], 'has them answered where both variants drop', async () => {
    const { node, run, fetch } = scene();
    const pod = await node.addPod();
    await harden(scene(), 'iptables-nft', DROP);
    await harden(scene(), 'iptables-legacy', '-A INPUT -p udp -j DROP');
    const running = run(`${LINK_LOCAL},${SERVICE}`, []);
    await waitUntil('the rules', async () => running.output.includes(SET));
    expect(await askFromPod(scene(), pod)).toEqual(ALL_ANSWERED);
    expect(await fetch('http://127.0.0.1:36353/metrics')).toMatch(
      /^portolan_nodecache_rules\{filter="nftables and iptables(-nft)? and iptables-legacy",probe="path"\} 1$/m,
    );
    expect(running.output.match(/probes on the way of pods/g)).toHaveLength(1);
  });
});
