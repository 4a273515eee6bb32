/**
 * Faults of etcd while clients query its names: members killed and restarted, the leader moved, the store compacted and
 * defragmented. The table keeps answering, and changes made meanwhile are visible afterwards.
 */
import { RCODE } from '@portolan/dns/types.ts';
import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { BurstLoad } from '../support/burst-load.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';
import { startEtcd } from './etcd-server.ts';
import { follow } from './followed.ts';

/** From two clients, some hundred questions a second. */
const LOAD = { address: '127.0.0.1', sockets: 2, burst: 5, every: 10 };

let loadEntry: URL;
beforeAll(async () => {
  loadEntry = await bundleThread('test/support/burst-load-thread.ts');
});
afterEach(endAllPrograms);

describeWithTool(['etcd', 'etcdctl'], 'names of an etcd in trouble', () => {
  it('are answered all the time, and are current afterwards', async () => {
    const etcd = await startEtcd({ members: 3 });
    const client = new EtcdClient(etcd.settings, systemClock);
    onTestFinished(() => client.close());
    const { plugin, ask } = follow(etcd);
    const startLoad = async () => {
      const port = await findFreePort();
      const machines = etcd.members.map(({ url }) => url).join(',');
      const program = runPortolan([
        'skydns',
        '-etcd3',
        '-machines',
        machines,
        '-addr',
        `127.0.0.1:${port}`,
        '-domain',
        'skydns.test.',
        '-nameservers',
        '127.0.0.1:9',
      ]);
      await program.heard('ready for queries');
      const questions = [{ name: 'steady.skydns.test.', answer: '10.0.0.1' }];
      return new BurstLoad(loadEntry, { ...LOAD, port, questions });
    };
    let change = 0;
    let lost = 0;
    let asked = 0;

    /** Writes until etcd takes it, with all members there or two of them. */
    const write = async (key: string, address: string): Promise<void> => {
      const value = Buffer.from(JSON.stringify({ host: address }));
      const operations = [{ kind: 'put', key: Buffer.from(`/skydns/test/skydns/${key}`), value } as const];
      while (
        !(await client.transact({ conditions: [], operations }).then(
          () => true,
          () => false,
        ))
      );
    };
    const askSteady = () => {
      asked += 1;
      if (ask('steady.skydns.test.') !== '10.0.0.1') lost += 1;
    };
    /** Asks on until the change of a name is answered. */
    const becomeCurrent = async (): Promise<void> => {
      change += 1;
      const address = `10.1.0.${change}`;
      const end = performance.now() + 60_000;
      await write('moving', address);
      while (ask('moving.skydns.test.') !== address) {
        if (performance.now() > end) throw new Error(`change ${change} is not answered`);
        askSteady();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };

    await write('steady', '10.0.0.1');
    await waitUntil('the keys are read', () => ask('steady.skydns.test.') === '10.0.0.1');
    await becomeCurrent();
    const load = await startLoad();
    for (const member of etcd.members) {
      await member.kill();
      askSteady();
      await becomeCurrent();
      await member.start();
      await becomeCurrent();
    }
    await etcd.moveLeader();
    await becomeCurrent();
    const { revision } = await client.range({ key: Buffer.from('/') });
    await etcd.control('compact', String(revision));
    await etcd.control('defrag');
    await becomeCurrent();
    // All of them are away at once, and changes are compacted before they are followed again.
    await Promise.all(etcd.members.map((member) => member.kill()));
    askSteady();
    await Promise.all(etcd.members.map((member) => member.start()));
    await becomeCurrent();
    await load.stop();
    expect({ lost: load.lost, wrong: load.wrong, refused: load.refused }).toEqual({
      lost: 0,
      wrong: 0,
      refused: 0,
    });
    expect(load.answered).toBe(load.asked);
    expect(load.asked).toBeGreaterThan(100);
    expect(lost).toBe(0);
    expect(asked).toBeGreaterThan(10);
    expect(plugin.stats()).toMatchObject({ keys: 2, badKeys: 0, age: 0 });
  }, 120_000);

  it('are followed through thousands of changes', async () => {
    const etcd = await startEtcd();
    const client = new EtcdClient(etcd.settings, systemClock);
    onTestFinished(() => client.close());
    const { plugin, ask } = follow(etcd);
    const names = 1_000;
    const put = async (records: readonly (readonly [string, string])[]) => {
      const operations = records.map(([name, host]) => {
        const key = Buffer.from(`/skydns/test/skydns/${name}`);
        return { kind: 'put', key, value: Buffer.from(JSON.stringify({ host })) } as const;
      });
      await client.transact({ conditions: [], operations });
    };
    await put([['steady', '10.0.0.1']]);
    await waitUntil('the keys are read', () => ask('steady.skydns.test.') === '10.0.0.1');
    let lost = 0;
    for (let change = 0; change < 10 * names; change += 100) {
      const numbers = Array.from({ length: 100 }, (_, index) => change + index);
      await put(
        numbers.map((each) => [`n${each % names}`, `10.${each >> 16}.${(each >> 8) & 255}.${each & 255}`]),
      );
      if (ask('steady.skydns.test.') !== '10.0.0.1') lost += 1;
    }
    const last = (name: number) => 9 * names + name;
    const isCurrent = (name: number) => {
      const each = last(name);
      return ask(`n${name}.skydns.test.`) === `10.${each >> 16}.${(each >> 8) & 255}.${each & 255}`;
    };
    const all = Array.from({ length: names }, (_, name) => name);
    // Some at a time, and in no order, as queries are answered in between.
    await waitUntil('all names are current', () => all.every(isCurrent));
    expect(lost).toBe(0);
    expect(plugin.stats()).toMatchObject({ keys: names + 1, reads: 1 });
  });

  it('are current when what changed meanwhile is compacted', async () => {
    const etcd = await startEtcd();
    const { plugin, ask } = follow(etcd);
    const put = (key: string, address: string) =>
      etcd.control('put', `/skydns/test/skydns/${key}`, JSON.stringify({ host: address }));
    const until = async (condition: () => boolean) => await waitUntil('the state of etcd', condition);
    await put('a', '10.0.0.1');
    await put('gone', '10.0.0.2');
    await until(() => ask('gone.skydns.test.') === '10.0.0.2' && plugin.stats().age === 0);
    await etcd.first.kill();
    await until(() => plugin.stats().age !== 0);
    expect(ask('a.skydns.test.')).toBe('10.0.0.1');
    await etcd.first.start().then(async () => {
      await etcd.control('del', '/skydns/test/skydns/gone');
      for (let count = 0; count < 3; count += 1) await put('a', `10.0.1.${count}`);
      const client = new EtcdClient(etcd.settings, systemClock);
      const { revision } = await client.range({ key: Buffer.from('/') });
      client.close();
      await etcd.control('compact', String(revision));
    });
    await until(() => ask('a.skydns.test.') === '10.0.1.2' && ask('gone.skydns.test.') === undefined);
    expect(plugin.stats().keys).toBe(1);
  }, 60_000);

  it('are answered from a snapshot where etcd is away at the start', async () => {
    const etcd = await startEtcd();
    const folder = await makeTemporaryFolder(onTestFinished);
    const snapshot = { file: `${folder.path}/names`, maxAge: 60_000, maxAgeName: 'snapshot' };
    await etcd.control('put', '/skydns/test/skydns/a', '{"host":"10.0.0.1"}');
    await etcd.control('put', '/skydns/test/skydns/b', 'broken');
    const before = follow(etcd, { snapshot });
    await waitUntil('the keys are read', () => before.plugin.stats().age === 0);
    await before.end();
    await etcd.first.kill();
    const began = performance.now();
    const { plugin, started, metrics, ask, askTable, askHandler } = follow(etcd, { snapshot });
    await started;
    // One failed try is enough: it waits 5 s where it knows nothing.
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(ask('a.skydns.test.')).toBe('10.0.0.1');
    expect(plugin.isReady()).toBe(true);
    expect(plugin.stats()).toMatchObject({ keys: 2, badKeys: 1, reads: 0 });
    expect(plugin.stats().age).toBeGreaterThan(0);
    const shown = await metrics.render();
    const labels = 'server="dns://:53",zones="skydns.test."';
    expect(shown).toContain(`portolan_etcd_keys{${labels},state="bad"} 1`);
    expect(shown).toMatch(/^portolan_etcd_data_age_seconds\{.*\} (?!0$)/m);
    // A name that it does not have may have come since.
    expect(askTable('new.skydns.test.')).toBeUndefined();
    expect(await askHandler('new.skydns.test.')).toEqual(['message', String(RCODE.SERVFAIL)]);
    await etcd.first.start();
    await waitUntil('etcd is followed', () => plugin.stats().age === 0);
    expect(askTable('new.skydns.test.')?.header.rcode).toBe(RCODE.NXDOMAIN);
  });
});
