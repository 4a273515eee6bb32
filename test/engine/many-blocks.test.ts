/**
 * A server block costs what it holds: the work of a start grows with the blocks, and not with their square.
 */
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { loadPlugins } from '@portolan/kernel/contract/plugin-use.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import { Forwarder } from '@portolan/kernel/forward/forwarder.ts';
import { ReaderPath } from '@portolan/kernel/forward/reader-path/reader-path.ts';
import type { ReaderPolicy } from '@portolan/kernel/forward/reader-path/reader-policy.ts';
import { MAX_GROUPS } from '@portolan/kernel/forward/reader-path/shared-words.ts';
import { pluginUses } from '@portolan/kernel/plan/server-blocks-plan.ts';
import { expect, it, onTestFinished } from 'vitest';
import { planFor } from '../forward/forwarder-on-loopback.ts';

const READERS = 2;
/** Octets of address space: pages of counters that nothing counts in are never touched. */
const MAX_RESERVED = 128 * 1024;

function writeCorefile(blocks: number): string {
  return Array.from({ length: blocks }, (_, index) => {
    const zone = index === 0 ? '.' : `zone-${index}.example`;
    return `${zone}:53 {\n errors\n cache\n loadbalance\n forward . 192.0.2.53\n}\n`;
  }).join('');
}

/** Starts an engine. @returns it, and the policies that its readers get */
async function start(blocks: number): Promise<{ engine: Engine; policies: readonly ReaderPolicy[] }> {
  const plan = compilePlan(writeCorefile(blocks));
  await loadPlugins(pluginUses(plan));
  const engine = new Engine(plan, {
    readers: READERS,
    version: 'test',
    clock: new ManualClock(),
    log: silentLog,
  });
  const policies: ReaderPolicy[] = [];
  engine.readerPath.follow((policy) => policies.push(policy));
  onTestFinished(() => engine.stop());
  await engine.start();
  return { engine, policies };
}

it('readers get the routes of all blocks at once, and again only when some change', async () => {
  const { engine, policies } = await start(100);
  expect(policies.map(({ routes }) => routes.length)).toEqual([100]);
  const servers = policies.flatMap(({ routes }) => routes.flatMap((route) => route.servers));
  expect(new Set(servers.map(({ number }) => number)).size).toBe(100);
  engine.serverBlocks.show();
  // Shown again, routes have other numbers.
  expect(policies).toHaveLength(2);
  engine.readerPath.drain();
  engine.readerPath.catchUp();
  expect(policies).toHaveLength(2);
});

it('takes as much of the table for each block, however many there are', async () => {
  const touched = [];
  for (const blocks of [1, 51, 151]) {
    const { engine } = await start(blocks);
    touched.push(engine.table.statistics().touchedOctets);
  }
  const [one = 0, some = 0, many = 0] = touched;
  const each = (some - one) / 50;
  expect(each).toBeLessThan(MAX_RESERVED);
  expect((many - some) / 100 / each).toBeCloseTo(1, 1);
});

it('gives readers no more forwarders than they have room for, and room again once one has gone', () => {
  const path = new ReaderPath(READERS, new ManualClock());
  const forwarder = new Forwarder(planFor(['127.0.0.1:53'], {}), {
    clock: new ManualClock(),
    log: silentLog,
    resolveName: () => Promise.reject(new Error('no names here')),
  });
  onTestFinished(() => forwarder.stop());
  const links = Array.from({ length: MAX_GROUPS }, () => path.link(forwarder));
  expect(new Set(links.map((link) => link?.group)).size).toBe(MAX_GROUPS);
  expect(path.link(forwarder)).toBeUndefined();
  links[7]?.stop();
  expect(path.link(forwarder)?.group).toBe(7);
});
