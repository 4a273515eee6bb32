import { parseName, toKey } from '@portolan/dns/name.ts';
import { TYPE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
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

function makeSource(clock: Clock = makeBusyClock()) {
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
    { table, clock, log: silentLog },
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
