import { parseName, toKey } from '@portolan/dns/name.ts';
import { TYPE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { DEFAULT_LOSS_RULE, Losses } from '@portolan/kernel/base/losses.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { expect, it, onTestFinished } from 'vitest';
import { parseEndpoint } from './client/endpoints.ts';
import { EtcdSource } from './etcd-source.ts';
import { makeSkyDnsRules } from './rules/rules.ts';

const NAMES = 100;

/** Time advances with each call, so that long work pauses. */
function makeBusyClock(): Clock {
  const manual = new ManualClock();
  let time = 0;
  const monotonic = () => {
    time += 1;
    return time;
  };
  return { now: () => manual.now(), monotonic, after: (wait, run) => manual.after(wait, run) };
}

function makeSource(clock: Clock = makeBusyClock(), losses?: Losses) {
  const table = new TableWriter({ readers: 0, reservation: 2 ** 26 });
  const apex = toKey(parseName('test.'));
  const numbers = { serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1 };
  const soa = { kind: 'SOA', primary: apex, mailbox: apex, ...numbers } as const;
  const zone = { apex, soa, negativeTtl: 30, authoritativeNxdomain: true };
  const endpoint = parseEndpoint('http://127.0.0.1:9');
  const source = new EtcdSource(
    {
      etcd: { endpoints: endpoint === undefined ? [] : [endpoint] },
      version: 3,
      prefix: 'skydns',
      outcome: 0,
      rules: makeSkyDnsRules({ ttl: 60, priority: 10 }),
      zones: [{ zone, missing: 'deny', any: 'refused' }],
    },
    { table, losses, clock, log: silentLog },
  );
  return { source, table, apex };
}

it('answers as soon as all keys are read, while their names are published', async () => {
  const { source, table, apex } = makeSource();
  const ask = (name: string) => source.answer(apex, { name: parseName(name), type: TYPE.A }).answer.kind;
  const published = () => table.statistics().nodes;
  source.beginRead();
  for (let index = 0; index < NAMES; index += 1)
    source.put(Buffer.from(`/skydns/test/n${index}`), Buffer.from('{"host":"10.0.0.1"}'), undefined);
  expect(source.isKnown).toBe(false);
  const before = published();
  const read = source.completeRead();
  await Promise.resolve();
  expect(source.isKnown).toBe(true);
  expect(published()).toBeLessThan(before + NAMES / 2);
  expect([ask('n0.test.'), ask(`n${NAMES - 1}.test.`), ask('missing.test.')]).toEqual([
    'records',
    'records',
    'nxdomain',
  ]);
  await read;
  expect(published()).toBe(before + NAMES);
});

it('passes over a folder that it does not know', () => {
  const { source } = makeSource();
  source.beginRead();
  source.put(Buffer.from('/skydns/test/a'), Buffer.from('{"host":"10.0.0.1"}'), undefined);
  source.removeFolder(Buffer.from('/skydns/test/empty'));
  expect(source.value(['test', 'empty'])).toBeUndefined();
  expect(source.stats().keys).toBe(1);
});

/** A source whose etcd refuses connections, and whether its start has ended. */
function startWithoutEtcd() {
  const clock = new ManualClock();
  const { source } = makeSource(clock);
  onTestFinished(() => source.stop());
  let hasStarted = false;
  const started = source.start().then(() => {
    hasStarted = true;
  });
  return { source, clock, started, hasStarted: () => hasStarted };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('waits 5 s for an etcd that is away, then starts without it', async () => {
  const { source, clock, started, hasStarted } = startWithoutEtcd();
  await waitUntil('a failed try', () => source.stats().failures > 0);
  clock.advance(4_999);
  await settle();
  expect(hasStarted()).toBe(false);
  clock.advance(1);
  await started;
  expect(source.isKnown).toBe(false);
});

it('waits no longer for an etcd that is away when the server stops', async () => {
  const { source, started, hasStarted } = startWithoutEtcd();
  await settle();
  expect(hasStarted()).toBe(false);
  source.proceed();
  await started;
});

it.each(['a read without them', 'a batch that deletes them'])(
  'keeps keys that etcd loses at once: %s',
  async (how) => {
    const clock = new ManualClock();
    const losses = new Losses(DEFAULT_LOSS_RULE, { clock, log: silentLog });
    const { source, apex } = makeSource(clock, losses);
    const keys = Array.from({ length: 40 }, (_, index) => Buffer.from(`/skydns/test/n${index}`));
    const read = async (held: readonly Buffer[]) => {
      source.beginRead();
      for (const key of held) source.put(key, Buffer.from('{"host":"10.0.0.1"}'), undefined);
      let isRead = false;
      void source.completeRead().then(() => {
        isRead = true;
      });
      // Names are published some milliseconds after a change.
      await waitUntil('the read', () => isRead, { step: () => clock.advance(20) });
    };
    const ask = (index: number) =>
      source.answer(apex, { name: parseName(`n${index}.test.`), type: TYPE.A }).answer.kind;
    const isStale = (index: number) => source.isStale(toKey(parseName(`n${index}.test.`)));
    const lose = async () => {
      if (how.startsWith('a read')) return await read([]);
      for (const key of keys) source.remove(key);
      source.completeBatch();
    };
    await read(keys);
    source.remove(Buffer.from('/skydns/test/n39'));
    source.completeBatch();
    expect([ask(39), ask(0), isStale(0)]).toEqual(['nxdomain', 'records', false]);
    await lose();
    expect([ask(39), ask(0), isStale(0)]).toEqual(['nxdomain', 'records', true]);
    expect(losses.list()).toMatchObject([{ kind: 'etcd', subject: '/skydns/', names: 39, of: 40 }]);
    await read(keys.slice(0, 1));
    expect([isStale(0), isStale(1)]).toEqual([false, true]);
    clock.advance(DEFAULT_LOSS_RULE.hold);
    expect([ask(0), ask(1)]).toEqual(['records', 'nxdomain']);
    await source.stop();
  },
);
