/**
 * The changes of `portolan node-cache` to the network of a node, in a namespace that represents the node.
 */

import { join } from 'node:path';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, it } from 'vitest';
import { describeOnNode } from './namespace.ts';
import { recordedRules } from './recorded-rules.ts';
import { LINK_LOCAL, useScene } from './scene.ts';

const scene = useScene();

describeOnNode("the rules of a node's cache", () => {
  it.each([
    ['One IPv4 address: -localip 169.254.20.10', '169.254.20.10', 'iptables', 12],
    ['Two IPv4 addresses: -localip 169.254.20.10,10.96.0.10', '169.254.20.10,10.96.0.10', 'iptables', 24],
    ['One IPv6 address: -localip fd00::10', 'fd00::10', 'ip6tables', 12],
    ['Two IPv6 addresses: -localip fd00::10,fd00:10:96::a', 'fd00::10,fd00:10:96::a', 'ip6tables', 24],
  ] as const)('in iptables are those of the original. %s', async (title, addresses, program, count) => {
    const running = scene().run(addresses, ['--rules=iptables']);
    await waitUntil('all rules', async () => (await scene().node.iptables(program)).length === count);
    expect(await scene().node.iptables(program)).toEqual(recordedRules(title));
    running.signal('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect(await scene().node.iptables(program)).toEqual([]);
  });

  it('in iptables go in front of those of others', async () => {
    const { node, run } = scene();
    // One of them drops all packets, also those of our probes: here it leaves them.
    const recorded = recordedRules('Foreign rules first: ours go in front').map((rule) =>
      rule.replace('INPUT -j DROP', 'INPUT -p icmp -j DROP'),
    );
    await node.addRules(recorded.filter((rule) => !rule.includes('NodeLocal')));
    run(LINK_LOCAL, ['--rules=iptables']);
    await waitUntil('all rules', async () => (await node.iptables()).length === 14);
    expect(await node.iptables()).toEqual(recorded);
  });

  it('in iptables are repaired as recorded, and all copies go', async () => {
    const { node, run } = scene();
    const running = run(LINK_LOCAL, ['--rules=iptables', '-syncinterval', '1']);
    const recorded = recordedRules(
      'Repair, -syncinterval 3ns (= 3 s): raw table flushed and one INPUT rule deleted by hand',
    );
    await waitUntil('all rules', async () => (await node.iptables()).length === 12);
    await node.run('iptables', '-t', 'raw', '-F');
    await node.run('iptables', '-D', 'INPUT', '1');
    await waitUntil('all rules again', async () => (await node.iptables()).length === 12);
    expect(await node.iptables()).toEqual(recorded);
    await node.run('iptables', '-A', 'INPUT', '-p', 'icmp', '-j', 'ACCEPT');
    await node.addRules(recorded);
    // A hint to read the Corefile again, which changes nothing here; and one to stop, of which there are three.
    running.signal('SIGHUP');
    running.signal('SIGINT');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect(await node.iptables()).toEqual(['filter: -A INPUT -p icmp -j ACCEPT']);
  });

  it('in iptables are removed when the program is killed', async () => {
    const running = scene().run('169.254.20.10', ['--rules=iptables']);
    await waitUntil('all rules', async () => (await scene().node.iptables()).length === 12);
    running.signal('SIGKILL');
    await waitUntil('no rules', async () => (await scene().node.iptables()).length === 0);
  });

  it('in nftables are one table, which ends with the program, however it ends', async () => {
    const running = scene().run('169.254.20.10', ['--rules=nft']);
    await waitUntil('the table', async () => (await scene().node.nftables()).length === 1);
    running.signal('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect(await scene().node.nftables()).toEqual([]);
    const killed = scene().run('169.254.20.10', ['--rules=nft']);
    await waitUntil('the table', async () => (await scene().node.nftables()).length === 1);
    killed.signal('SIGKILL');
    await waitUntil('no table', async () => (await scene().node.nftables()).length === 0);
  });

  it('are not set for a Corefile that is not served', async () => {
    await scene().folder.write('Corefile.base', '.:36053 {\n    nonsense\n}\n');
    const running = scene().run('169.254.20.10', ['--rules=iptables']);
    expect((await running.exit).code).toBe(1);
    expect(await scene().node.iptables()).toEqual([]);
    expect(await scene().node.run('ip', '-o', 'addr', 'show')).not.toContain('169.254.20.10');
  });

  it('stay, with the addresses, where -skipteardown is given', async () => {
    const running = scene().run('169.254.20.10', ['--rules=iptables', '-skipteardown']);
    await waitUntil('all rules', async () => (await scene().node.iptables()).length === 12);
    running.signal('SIGTERM');
    await running.exit;
    expect(await scene().node.iptables()).toHaveLength(12);
    expect(await scene().node.run('ip', '-o', 'addr', 'show')).toContain('169.254.20.10');
  });
});

describeOnNode('with -setuponly', () => {
  it('the address is set up for a server without the right to, and stays', async () => {
    const before = scene().run(LINK_LOCAL, ['-setuponly']);
    expect(await before.exit).toEqual({ code: 0, signal: null });
    const running = scene().run(LINK_LOCAL, ['-setupinterface=false', '--rules=none']);
    await waitUntil('the start', async () => running.output.includes('CoreDNS-'));
    expect(await scene().ask(LINK_LOCAL)).toBe('answered');
    expect(await scene().node.nftables()).toEqual([]);
    expect(await scene().node.iptables()).toEqual([]);
    running.signal('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect(await scene().node.run('ip', '-o', 'addr', 'show')).toContain(LINK_LOCAL);
  });

  it('a node that refuses the address is told of', async () => {
    const running = scene().run(LINK_LOCAL, ['-setuponly', '-interfacename', 'eth0/1']);
    expect(await running.exit).toEqual({ code: 1, signal: null });
    expect(running.output).toContain('addresses not set up');
  });
});

describeOnNode("queries to a node's cache", () => {
  it('are answered at its addresses and not tracked; others are tracked', async () => {
    scene().run('169.254.20.10', ['--rules=nft']);
    await waitUntil('the table', async () => (await scene().node.nftables()).length === 1);
    // Counts the connections that the kernel tracks, as kube-proxy's rules would have it do.
    const count =
      'table inet count { chain output { type filter hook output priority 0; ct state new counter; }; }';
    await scene().node.run('nft', count);
    const counted = async () =>
      Number(/packets (\d+)/.exec(await scene().node.run('nft', 'list', 'table', 'inet', 'count'))?.[1]);
    const before = await counted();
    expect(await scene().ask('169.254.20.10')).toBe('answered');
    expect(await counted()).toBe(before);
    expect(await scene().ask('127.0.0.1')).toBe('refused');
    expect(await counted()).toBeGreaterThan(before);
  });
});

describeOnNode('a change of the ConfigMap', () => {
  it('is served within the same process, and an invalid one changes nothing', async () => {
    await scene().folder.write('cm/upstreamNameservers', '[]');
    const running = scene().run('169.254.20.10', [
      '--rules=none',
      '-kubednscm',
      join(scene().folder.path, 'cm'),
    ]);
    await waitUntil('the start', async () => running.output.includes('CoreDNS-'));
    const ask = (name: string) =>
      scene().node.run('dig', '+short', '+tries=1', '@169.254.20.10', '-p', '36053', name, 'TXT');
    const metrics = () => scene().fetch('http://127.0.0.1:36353/metrics');
    await scene().folder.write('cm/stubDomains', '{"acme.local": ["127.0.0.1"');
    await waitUntil('the error', async () =>
      (await metrics()).includes('setup_errors_total{errortype="configmap"} 1'),
    );
    await scene().folder.write('cm/stubDomains', '{"acme.local": ["127.0.0.1:36054"]}');
    await waitUntil('the reload', async () => running.output.includes('Reloading complete'));
    expect(await ask('host.acme.local').catch(() => 'no reply')).not.toContain('whoami');
    expect(running.ended).toBeUndefined();
  });
});
