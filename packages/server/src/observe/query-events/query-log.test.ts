import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import { expect, it } from 'vitest';
import type { QueryLine } from './event-lines.ts';
import { COREDNS_NOTES, QueryLog } from './query-log.ts';

const STARTED = "parentPort.postMessage({ kind: 'started' });";

/** A log whose thread runs this code. */
function makeQueryLog(code: string) {
  const rings = new QueryEventRings(1);
  const said: QueryLine[] = [];
  const log = new RecordingLog();
  const source = `import { parentPort } from 'node:worker_threads'; ${code}`;
  const threadEntry = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const say = (lines: readonly QueryLine[]) => said.push(...lines);
  const queryLog = new QueryLog(rings, { threadEntry, say, clock: new ManualClock(), log });
  return { rings, said, log, queryLog };
}

const PLAN = {
  file: undefined,
  settings: { format: 'text', sample: 1, zones: [], rcodes: [], clients: [] },
} as const;

it('needs no thread while nobody wants lines', async () => {
  const { rings, queryLog } = makeQueryLog("throw new Error('started');");
  await queryLog.follow([{ rings, lines: undefined }]);
  await queryLog.change(undefined);
  expect([queryLog.note('a line'), rings.hasConsumer, rings.main.isOn]).toEqual([false, false, false]);
  await queryLog.stop();
});

it('takes notes and events from the moment on that lines are wanted, before its thread runs', async () => {
  const { rings, queryLog } = makeQueryLog(`${STARTED} parentPort.on('message', () => process.exit());`);
  const followed = queryLog.follow([{ rings, lines: { kind: 'dnsmasq', isNumbered: false } }]);
  expect([queryLog.note('a line'), rings.hasConsumer, rings.main.isOn]).toEqual([true, true, true]);
  await followed;
  await queryLog.stop();
  expect([queryLog.note('a line'), rings.hasConsumer, rings.main.isOn]).toEqual([false, false, false]);
});

it('leaves lines to the main thread where its own cannot start, and tries again with the next change', async () => {
  const { rings, queryLog } = makeQueryLog("throw new Error('no memory');");
  const followed = queryLog.follow([{ rings, lines: COREDNS_NOTES }]);
  await expect(followed).rejects.toThrow('no memory');
  expect([queryLog.note('a line'), rings.hasConsumer]).toEqual([false, false]);
  await expect(queryLog.change(PLAN)).rejects.toThrow('no memory');
  expect(queryLog.plan).toBeUndefined();
});

it('says that its thread has ended, and is off then', async () => {
  const { rings, log, queryLog } = makeQueryLog(
    `${STARTED} parentPort.on('message', ({ kind }) => {
      if (kind !== 'change') throw new Error('a fault');
      parentPort.postMessage({ kind: 'changed' });
    });`,
  );
  await queryLog.change(PLAN);
  expect([queryLog.plan, rings.main.isOn]).toEqual([PLAN, true]);
  queryLog.reopen();
  await expect
    .poll(() => log.records.map(({ message }) => message))
    .toEqual(['query log ended: internal error']);
  expect([queryLog.plan, rings.main.isOn, rings.hasConsumer]).toEqual([undefined, false, false]);
});

it('is off when its file cannot be opened', async () => {
  const { rings, queryLog } = makeQueryLog(
    `${STARTED} parentPort.on('message', ({ kind }) => {
      if (kind === 'stop') process.exit();
      parentPort.postMessage({ kind: 'changed', error: new Error('no such folder') });
    });`,
  );
  await expect(queryLog.change(PLAN)).rejects.toThrow('no such folder');
  expect([queryLog.plan, rings.main.isOn, rings.hasConsumer]).toEqual([undefined, false, false]);
});

it('gives lines of the thread to the log, and reports lost lines, also of former rings', async () => {
  const { rings, said, log, queryLog } = makeQueryLog(
    `${STARTED} parentPort.on('message', ({ kind }) => {
      if (kind === 'stop') process.exit();
      if (kind === 'follow') parentPort.postMessage({ kind: 'say', lines: ['one', 'two'] });
    });`,
  );
  const group = new QueryEventRings(0);
  await queryLog.follow([
    { rings, lines: COREDNS_NOTES },
    { rings: group, lines: undefined },
  ]);
  // The thread takes nothing out, so the ring fills.
  const line = 'x'.repeat(60_000);
  while (queryLog.dropped === 0) queryLog.note(line);
  while (queryLog.dropped === 1) group.main.note(line);
  await queryLog.follow([{ rings, lines: COREDNS_NOTES }]);
  await expect.poll(() => said).toEqual(['one', 'two']);
  expect(queryLog.dropped).toBe(2);
  expect(log.records[0]).toMatchObject({
    message: 'query log incomplete: more queries than lines can be written',
    fields: { dropped: 2 },
  });
  await queryLog.stop();
});
