/**
 * Leftovers on a node of processes that ended abnormally, and their removal.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, it } from 'vitest';
import { ALL_ANSWERED, askFromPod, DROP, harden, rulesOfCache } from './hardening.ts';
import { describeOnNode } from './namespace.ts';
import { recordedRules } from './recorded-rules.ts';
import { LINK_LOCAL, SERVICE, useScene } from './scene.ts';

const scene = useScene();

const rulesNow = async () => (await scene().node.iptables()).length;
const addresses = () => scene().node.run('ip', '-o', 'addr', 'show');
const BROKEN = '.:36053 {\n    nonsense\n}\n';
/** Process 1 of processes of its own, all of which end with it, as in a container. */
const AS_CONTAINER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

describeOnNode('rules and interface that the original left', () => {
  it.each(['iptables', 'nft'])('are taken over, and removed in the end (%s)', async (rules) => {
    const { node, run } = scene();
    await node.addRules(recordedRules('-skipteardown: left behind'));
    // The original never sets its interface up.
    await node.run('ip', 'link', 'add', 'nodelocaldns', 'type', 'bridge');
    await node.run('ip', 'addr', 'add', `${LINK_LOCAL}/32`, 'dev', 'nodelocaldns');
    const running = run(LINK_LOCAL, [`--rules=${rules}`]);
    await waitUntil('rules', async () => node.countWatchers() === 1);
    await waitUntil('those of one kind', async () => (await rulesNow()) === (rules === 'nft' ? 0 : 12));
    await waitUntil('the table', async () => (await node.nftables()).length === (rules === 'nft' ? 1 : 0));
    expect(await scene().ask(LINK_LOCAL)).toBe('answered');
    running.signal('SIGTERM');
    await running.exit;
    expect(await rulesNow()).toBe(0);
    expect(await node.nftables()).toEqual([]);
    expect(await node.run('ip', '-o', 'link', 'show')).not.toContain('nodelocaldns');
  });
});

describeOnNode('a pod that is killed as a whole', () => {
  it('leaves no table of nftables', async () => {
    const { node, run } = scene();
    const running = run(LINK_LOCAL, ['--rules=nft'], { inside: AS_CONTAINER });
    await waitUntil('the table', async () => (await node.nftables()).length === 1);
    running.signal('SIGKILL');
    await waitUntil('no table', async () => (await node.nftables()).length === 0);
  });

  it('may leave rules of iptables, until the next start, whether that one serves or not', async () => {
    const { node, run, folder } = scene();
    const running = run(LINK_LOCAL, ['--rules=iptables'], { inside: AS_CONTAINER });
    await waitUntil('all rules', async () => (await rulesNow()) === 12);
    running.signal('SIGKILL');
    await waitUntil('its end', async () => node.countWatchers() === 0);
    // The shell that watched over them was killed too, at a moment that is not known.
    await node.addRules(recordedRules('-skipteardown: left behind'));
    expect(await rulesNow()).toBeGreaterThanOrEqual(12);
    await folder.write('Corefile.base', BROKEN);
    expect((await run(LINK_LOCAL, ['--rules=iptables'], { inside: AS_CONTAINER }).exit).code).toBe(1);
    expect(await rulesNow()).toBe(0);
    expect(await addresses()).not.toContain(LINK_LOCAL);
  });
});

/** The process of the server: Node.js runs it. */
function findServer(): number {
  const isServer = (pid: string) => {
    const words = readOrNothing(`/proc/${pid}/cmdline`).split('\0');
    return words[0] === process.execPath && words.includes(join(scene().folder.path, 'Corefile'));
  };
  const found = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isServer(name));
  if (found === undefined) throw new Error('no server');
  return Number(found);
}

/** Processes end at any moment. */
function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

describeOnNode('the entry of the image', () => {
  const ENTRY = ['sh', resolve('scripts/run-node-cache.sh')];

  it('stays until the rules of iptables are gone of a server that was killed', async () => {
    const { run, node } = scene();
    const running = run(LINK_LOCAL, ['--rules=iptables'], { inside: [...AS_CONTAINER, ...ENTRY] });
    await waitUntil('all rules', async () => (await rulesNow()) === 12);
    process.kill(findServer(), 'SIGKILL');
    expect(await running.exit).toEqual({ code: 137, signal: null });
    expect(await rulesNow()).toBe(0);
    expect(node.countWatchers()).toBe(0);
  });

  it('passes signals on, and ends with the exit code of the server', async () => {
    const running = scene().run(LINK_LOCAL, ['--rules=iptables'], { inside: ENTRY });
    await waitUntil('all rules', async () => (await rulesNow()) === 12);
    running.signal('SIGUSR1');
    running.signal('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect(await rulesNow()).toBe(0);
    await scene().folder.write('Corefile.base', BROKEN);
    expect(await scene().run(LINK_LOCAL, [], { inside: ENTRY }).exit).toEqual({ code: 1, signal: null });
  });
});

describeOnNode('ACCEPT rules of iptables beside a table of nftables', () => {
  const local = `${LINK_LOCAL},${SERVICE}`;
  const SET = 'packet filter rules set';
  const accepts = () => rulesOfCache(scene(), 'iptables-nft');

  it('are removed when the server is killed', async () => {
    await harden(scene(), 'iptables-nft', DROP);
    const running = scene().run(local, []);
    await waitUntil('the rules', async () => running.output.includes(SET));
    expect(await accepts()).toHaveLength(8);
    running.signal('SIGKILL');
    await waitUntil('no ACCEPT rules', async () => (await accepts()).length === 0);
    expect(await scene().node.nftables()).toEqual([]);
  });

  it('may outlive a pod that is killed as a whole, and keep nobody from the Service until they go', async () => {
    const { node, run } = scene();
    await harden(scene(), 'iptables-nft', DROP);
    const running = run(local, [], { inside: AS_CONTAINER });
    await waitUntil('the rules', async () => running.output.includes(SET));
    running.signal('SIGKILL');
    await waitUntil('no table', async () => (await node.nftables()).length === 0);
    await waitUntil('no watcher', async () => node.countWatchers() === 0);
    expect((await accepts()).filter((rule) => !rule.endsWith('-j ACCEPT'))).toEqual([]);
    // Nothing is dropped any more, so nobody needs them.
    await node.run('iptables', '-P', 'INPUT', 'ACCEPT');
    const next = run(local, []);
    await waitUntil('the rules', async () => next.output.includes(SET));
    await waitUntil('no ACCEPT rules', async () => (await accepts()).length === 0);
  });

  it('that the original left stay, and its other rules go', async () => {
    const { node, run } = scene();
    const pod = await node.addPod();
    await node.addRules(recordedRules('Two IPv4 addresses: -localip 169.254.20.10,10.96.0.10'));
    await harden(scene(), 'iptables-nft', DROP);
    const running = run(local, []);
    await waitUntil('the rules', async () => running.output.includes(SET));
    await waitUntil('those that are needed', async () => (await accepts()).length === 8);
    expect((await accepts()).filter((rule) => !rule.endsWith('-j ACCEPT'))).toEqual([]);
    expect(await askFromPod(scene(), pod)).toEqual(ALL_ANSWERED);
  });

  it('are not set where nftables was chosen, with a warning; then nothing is diverted from the Service', async () => {
    await harden(scene(), 'iptables-nft', DROP);
    const running = scene().run(local, ['--rules=nft']);
    await waitUntil('the reason', async () => running.output.includes('packets of pods get no answer'));
    expect(await scene().node.nftables()).toEqual([]);
    expect(running.output).toMatch(/WARN.*iptables may drop queries of pods.*-P INPUT DROP.*--rules=auto/);
    expect(await accepts()).toEqual([]);
  });
});

describeOnNode('a second process that was started by mistake', () => {
  it('fails, and takes nothing from the first one', async () => {
    const first = scene().run(`${LINK_LOCAL},${SERVICE}`, ['--rules=iptables']);
    await waitUntil('all rules', async () => (await rulesNow()) === 24);
    const second = scene().run(`${LINK_LOCAL},${SERVICE}`, ['--rules=iptables']);
    expect((await second.exit).code).toBe(1);
    expect(await rulesNow()).toBe(24);
    for (const address of [LINK_LOCAL, SERVICE]) expect(await scene().ask(address)).toBe('answered');
    expect(first.ended).toBeUndefined();
  });
});

describeOnNode('a server that is stopped while it starts', () => {
  it('leaves nothing, whenever that is', async () => {
    const { node, run, folder } = scene();
    const moments: readonly (() => Promise<boolean>)[] = [
      async () => (await addresses()).includes(LINK_LOCAL),
      async () => existsSync(join(folder.path, 'pid')),
      async () => (await node.iptables()).length > 0,
    ];
    for (const moment of moments) {
      const running = run(LINK_LOCAL, ['--rules=iptables', '-pidfile', join(folder.path, 'pid')]);
      await waitUntil('the moment', moment);
      running.signal('SIGTERM');
      expect(await running.exit).toEqual({ code: 0, signal: null });
      expect(await rulesNow()).toBe(0);
      expect(await addresses()).not.toContain(LINK_LOCAL);
    }
  });
});

describeOnNode('a server that does not answer', () => {
  it('has no rules, however they are kept, until it answers again', async () => {
    const { node, run, folder } = scene();
    const other = '169.254.25.10';
    const apart = ['-interfacename', 'other', '-metrics-listen-address', '127.0.0.1:36354'];
    const processes = [
      run(LINK_LOCAL, ['--rules=iptables']),
      run(other, ['--rules=nft', ...apart, '-conf', join(folder.path, 'Other')]),
    ];
    const counts = async () => [await rulesNow(), (await node.nftables()).length];
    await waitUntil('rules of both', async () => String(await counts()) === '12,1');
    for (const each of processes) each.signal('SIGSTOP');
    await waitUntil('no rules', async () => String(await counts()) === '0,0');
    for (const each of processes) each.signal('SIGCONT');
    await waitUntil('rules of both', async () => String(await counts()) === '12,1');
  });

  it('has no rules while its answers are lost', async () => {
    const { node, run } = scene();
    run(LINK_LOCAL, ['--rules=iptables', '-syncinterval', '1']);
    await waitUntil('all rules', async () => (await rulesNow()) === 12);
    const block =
      'table inet block { chain out { type filter hook output priority 10; udp sport 36053 drop; }; }';
    await node.run('nft', block);
    await waitUntil('no rules', async () => (await rulesNow()) === 0);
    await node.run('nft', 'delete table inet block');
    await waitUntil('all rules again', async () => (await rulesNow()) === 12);
  });

  it('has its address back within seconds when another program removed it', async () => {
    const { node, run, ask } = scene();
    run(LINK_LOCAL, ['--rules=nft']);
    await waitUntil('the table', async () => (await node.nftables()).length === 1);
    await node.run('ip', 'addr', 'flush', 'to', `${LINK_LOCAL}/32`);
    await waitUntil('the address', async () => (await addresses()).includes(LINK_LOCAL));
    expect(await ask(LINK_LOCAL)).toBe('answered');
  });
});
