/**
 * After a change of its plan, a server with any front end holds no reference to the former plan.
 */
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { TableFullError } from '@portolan/kernel/table/arena.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { Cache } from '@portolan/plugins/cache/cache.ts';
import { cache as cachePlugin } from '@portolan/plugins/cache/plugin.ts';
import { optionsIn } from '@portolan/server/plan/testing/with-options.ts';
import { beforeAll, expect, it, vi } from 'vitest';
import { ReaderSubject } from '../coredns/reader-subject.ts';
import { bundleServerThreads } from '../support/bundle-thread.ts';
import { bundleDouble } from '../support/double-process.ts';
import { itWithTool } from '../support/tools.ts';
import { FRONT_ENDS, startChanging } from './changing-servers.ts';
import { changePlans } from './former-plans.ts';
import { collectGarbage } from './heap.ts';
import type { Surroundings } from './scene.ts';

/** The soak suite makes 200. */
const CHANGES = 4;

let surroundings: Surroundings;

beforeAll(async () => {
  const readerEntry = await bundleServerThreads();
  surroundings = { readerEntry, doubleEntry: await bundleDouble() };
});

for (const { name, tools } of FRONT_ENDS)
  itWithTool(tools, `${name} holds nothing of former plans`, async () => {
    const server = await startChanging(name, surroundings);
    expect(await changePlans(server, 1, CHANGES)).toEqual([]);
  });

it('keeps no cache for the sake of what counts its answers', async () => {
  const table = new TableWriter({ readers: 1, reservation: 2 ** 26 });
  const make = () => {
    const cache = new Cache(optionsIn(compilePlan('. {\n cache\n}\n'), cachePlugin), {
      table,
      clock: systemClock,
      metrics: new MetricRegistry(),
      restored: NOTHING_RESTORED,
      rotates: () => false,
    });
    cache.stop();
    const { handler } = cache;
    return { cache: new WeakRef(cache), hits: handler.role === 'cache' ? handler.hits : undefined };
  };
  const { cache, hits } = make();
  await collectGarbage();
  expect(hits).toBeDefined();
  expect(cache.deref()).toBeUndefined();
});

it('keeps nothing of plans that cannot be made', async () => {
  // The second block has no room for the names of services.
  const zone = Array(4).fill('a'.repeat(50)).join('.');
  const bad = `.:53 {\n etcd a.test\n}\nb.test:53 {\n kubernetes ${zone}\n}\n`;
  const { engine } = new ReaderSubject('.:53 {\n whoami\n}\n');
  await expect(engine.makeBlocks(compilePlan(bad))).rejects.toThrow('cluster domain too long');
  expect(await engine.metrics.render()).not.toContain('zones="a.test."');
});

itWithTool('etcd', 'keeps nothing of plans that the table has no room for', async () => {
  const server = await startChanging('coredns', surroundings);
  const { table } = server;
  const defined = vi.spyOn(table, 'defineView');
  const removed = vi.spyOn(table, 'removeView');
  const full = vi.spyOn(table, 'showViews').mockImplementation(() => {
    throw new TableFullError(1);
  });
  await server.attempt(1);
  expect(full).toHaveBeenCalledOnce();
  expect(defined).toHaveBeenCalled();
  const gone = removed.mock.calls.map(([view]) => view);
  expect(gone.toSorted()).toEqual(defined.mock.results.map(({ value }) => value).toSorted());
  full.mockRestore();
  expect(await changePlans(server, 2, 3)).toEqual([]);
});
