/**
 * Two consecutive processes of `portolan node-cache -takeover` on a node: the first leaves what the second needs.
 */

import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Program } from '@portolan/testing/program.ts';
import { expect, it } from 'vitest';
import { ALL_ANSWERED, askFromPod, DROP, harden, rulesOfCache } from './hardening.ts';
import { startFetches, startQueries, watchRules } from './load.ts';
import { describeOnNode } from './namespace.ts';
import { LINK_LOCAL, SERVICE, TEMPLATE, useScene } from './scene.ts';

const scene = useScene();

/** With the health check and the metrics, which two processes share too. */
const WITH_ENDPOINTS = TEMPLATE.replace(
  'whoami',
  'whoami\n    health __PILLAR__LOCAL__DNS__:36080\n    prometheus :36253',
);
const ENDPOINTS = [
  `http://${LINK_LOCAL}:36080/health`,
  'http://127.0.0.1:36253/metrics',
  'http://127.0.0.1:36353/metrics',
];
/** Without a line of the program's own: queries are answered. */
const SERVING = 'CoreDNS-';

const rulesNow = async () => (await scene().node.iptables()).length;
const addresses = () => scene().node.run('ip', '-o', 'addr', 'show');

/**
 * No other count of rules was seen, but for a machine that is so busy that two probes in a row have no answer: then they are removed
 * by intention, and the log says so.
 */
function expectAlways(count: string, seen: string, ...programs: readonly Program[]): void {
  const isBusy = programs.some(({ output }) => output.includes('no answer at the local addresses'));
  if (!isBusy) expect(seen).toBe(count);
  else expect(seen.split(' ')).toContain(count);
}

describeOnNode('an upgrade with -takeover', () => {
  it('loses nothing, and all rules of iptables stand all the time', async () => {
    const local = `${LINK_LOCAL},${SERVICE}`;
    const count = 24;
    await scene().folder.write('Corefile.base', WITH_ENDPOINTS);
    const flags = ['--rules=iptables', '-takeover'];
    const before = scene().run(local, flags);
    await waitUntil('all rules', async () => (await rulesNow()) === count);
    const queries = startQueries(scene(), LINK_LOCAL);
    const fetches = startFetches(scene(), ENDPOINTS);
    const rules = watchRules(scene());
    const next = scene().run(local, flags);
    await waitUntil('two servers', async () => next.output.includes(SERVING));
    before.signal('SIGTERM');
    expect(await before.exit).toEqual({ code: 0, signal: null });
    for (const url of ENDPOINTS) expect(await scene().fetch(url)).not.toBe('');
    expectAlways(String(count), await rules.end(), before, next);
    expect(await fetches.end()).toMatch(/^0 of \d+ refused$/);
    expect(await queries.end()).toMatch(/^0 of \d{2,} lost$/);
    for (const address of local.split(',')) expect(await addresses()).toContain(address);
    expect(next.ended).toBeUndefined();
    next.signal('SIGTERM');
    await next.exit;
    expect(await rulesNow()).toBe(0);
    expect(await addresses()).not.toContain(LINK_LOCAL);
  });

  it('loses nothing, and there is a table of nftables all the time', async () => {
    const flags = ['--rules=nft', '-takeover'];
    const before = scene().run(LINK_LOCAL, flags);
    await waitUntil('the table', async () => (await scene().node.nftables()).length === 1);
    const queries = startQueries(scene(), LINK_LOCAL);
    const next = scene().run(LINK_LOCAL, flags);
    await waitUntil('both tables', async () => (await scene().node.nftables()).length === 2);
    before.signal('SIGTERM');
    expect(await before.exit).toEqual({ code: 0, signal: null });
    expect(await scene().node.nftables()).toHaveLength(1);
    expect(await addresses()).toContain(LINK_LOCAL);
    expect(await queries.end()).toMatch(/^0 of \d{2,} lost$/);
    expect(next.ended).toBeUndefined();
  });

  it('from rules of iptables to nftables leaves none in iptables', async () => {
    const before = scene().run(LINK_LOCAL, ['--rules=iptables', '-takeover']);
    await waitUntil('all rules', async () => (await rulesNow()) === 12);
    const next = scene().run(LINK_LOCAL, ['--rules=nft', '-takeover', '-syncinterval', '1']);
    await waitUntil('the table', async () => (await scene().node.nftables()).length === 1);
    before.signal('SIGTERM');
    await before.exit;
    await waitUntil('no rules of iptables', async () => (await rulesNow()) === 0);
    expect(await scene().node.nftables()).toHaveLength(1);
    expect(next.ended).toBeUndefined();
  });

  it('on a node with a firewall that came later takes DNS from no pod', async () => {
    const { node, run } = scene();
    const pod = await node.addPod();
    const accepts = () => rulesOfCache(scene(), 'iptables-nft');
    const flags = ['-takeover', '-syncinterval', '1'];
    const before = run(`${LINK_LOCAL},${SERVICE}`, flags);
    await waitUntil('the table', async () => (await node.nftables()).length === 1);
    await harden(scene(), 'iptables-nft', DROP);
    await waitUntil('the ACCEPT rules', async () => (await accepts()).length === 8);
    expect(await askFromPod(scene(), pod)).toEqual(ALL_ANSWERED);
    const next = run(`${LINK_LOCAL},${SERVICE}`, flags);
    await waitUntil('both tables', async () => (await node.nftables()).length === 2);
    before.signal('SIGTERM');
    expect(await before.exit).toEqual({ code: 0, signal: null });
    expect(await accepts()).toHaveLength(8);
    expect(await askFromPod(scene(), pod)).toEqual(ALL_ANSWERED);
    next.signal('SIGTERM');
    expect(await next.exit).toEqual({ code: 0, signal: null });
    expect(await accepts()).toEqual([]);
  });
});

describeOnNode('a new version that fails', () => {
  it.each(['when it starts', 'killed once it serves'])(
    'takes nothing from the old one (%s)',
    async (when) => {
      const flags = ['--rules=iptables', '-takeover'];
      const before = scene().run(LINK_LOCAL, flags);
      await waitUntil('all rules', async () => (await rulesNow()) === 12);
      const isBroken = when === 'when it starts';
      const queries = startQueries(scene(), LINK_LOCAL, isBroken ? 1 : 5);
      const rules = watchRules(scene());
      if (isBroken) await scene().folder.write('Corefile.base', '.:36053 {\n    nonsense\n}\n');
      const next = scene().run(LINK_LOCAL, flags);
      if (isBroken) expect((await next.exit).code).toBe(1);
      else {
        await waitUntil('its watcher', async () => scene().node.countWatchers() === 2);
        next.signal('SIGKILL');
        await next.exit;
        await waitUntil('the end of its watcher', async () => scene().node.countWatchers() === 1);
      }
      expectAlways('12', await rules.end(), before, next);
      expect(await addresses()).toContain(LINK_LOCAL);
      expect(await queries.end()).toMatch(/^0 of \d{2,} lost$/);
      expect(before.ended).toBeUndefined();
      before.signal('SIGTERM');
      await before.exit;
      expect(await rulesNow()).toBe(0);
    },
  );
});
