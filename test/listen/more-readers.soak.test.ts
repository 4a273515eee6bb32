/**
 * Readers that are started when the others are overloaded, for a listener and for listener groups that change meanwhile.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { GroupReader } from '@portolan/kernel/listen/group-reader.ts';
import { QueryEventReader } from '@portolan/kernel/listen/query-events/event-reader.ts';
import { EVENT_MODE } from '@portolan/kernel/listen/query-events/event-ring.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import { makeStartThread } from '@portolan/kernel/listen/reader-threads.ts';
import type { StartThread } from '@portolan/kernel/listen/udp-reader.ts';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { type Load, startLoad } from './load.ts';
import { answerAuthoritatively } from './scripted-answers.ts';
import { getPort, startClient, startUdp } from './scripted-udp.ts';

let threadEntry: URL;
let loadEntry: URL;
beforeAll(async () => {
  threadEntry = await bundleThread('test/listen/scripted-thread.ts');
  loadEntry = await bundleThread('test/listen/load-thread.ts');
});

const ADDRESS = '127.0.0.1';

/** More questions at a time than a batch has, each of which takes a reader long. */
function startToil(port: number): Load {
  return startLoad(loadEntry, { port, address: ADDRESS, sockets: 200, name: 'toil.example' });
}

it('a second reader starts for a load that is too much for one, and gets nothing when it is over', async () => {
  const log = new RecordingLog();
  const listener = await startUdp({ threadEntry, readers: 1, maxReaders: 2, log });
  const packets = () => listener.count().readers.map((counts) => counts.packets);
  expect(packets()).toHaveLength(1);
  const load = startToil(getPort(listener));
  await waitUntil('packets of the second reader', () => (packets()[1] ?? 0) > 100);
  expect(listener.count().down).toBe(0);
  await load.stop();
  expect(load).toMatchObject({ lost: 0, asked: load.answered });
  const numbers = () =>
    log.records.filter(({ message }) => message === 'packets go to another number of readers');
  await waitUntil('one reader to be enough', () => numbers().at(-1)?.fields['readers'] === 1);
  const before = packets();
  for (let turn = 0; turn < 40; turn++)
    await (await startClient()).ask('fast.example', { address: ADDRESS, port: getPort(listener) });
  await waitUntil('all to be counted', () => packets()[0] === (before[0] ?? 0) + 40);
  expect(packets()[1]).toBe(before[1]);
});

it('groups have a second reader too, and lose no query as they come and go', async () => {
  const threads: number[] = [];
  const start = makeStartThread(threadEntry);
  const startThread: StartThread = (data) => {
    threads.push(data.reader);
    return start(data);
  };
  const log = new RecordingLog();
  const reader = new GroupReader({
    maxReaders: 2,
    takeover: false,
    table: new SharedArrayBuffer(0),
    udpSize: 1232,
    grace: 2_000,
    handleQuery: async (query) => answerAuthoritatively(query),
    onReaderDead: () => {},
    startThread,
    clock: systemClock,
    log,
  });
  onTestFinished(() => reader.stop());
  const ports = [await findFreePort(), await findFreePort()];
  const events = new QueryEventRings(2);
  events.setMode(EVENT_MODE.RESPONSES);
  const [staying, going] = ports.map((port, group) => ({ address: ADDRESS, port, group, events }));
  if (staying === undefined || going === undefined) throw new Error('two groups');
  await reader.serve([staying]);
  const load = startToil(staying.port);
  const started = () =>
    log.records.filter(({ message }) => message === 'another reader thread serves UDP').length;
  for (const [change, addresses] of [[staying, going], [staying]].entries()) {
    await waitUntil('the second reader', () => started() === change + 1);
    const before = load.answered;
    await waitUntil('answers', () => load.answered > before + 500);
    await reader.serve(addresses);
  }
  await load.stop();
  expect(load).toMatchObject({ lost: 0, asked: load.answered });
  // The second one each time before a change, and the first one with it.
  expect(threads.slice(0, 4)).toEqual([0, 1, 0, 1]);
  // Each writes to a ring of its own.
  const written = new Set<number>();
  for (const place of [0, 1]) {
    const ring = events.ofReader(place);
    if (ring !== undefined) new QueryEventReader(ring).drain(() => void written.add(place));
  }
  expect([...written]).toEqual([0, 1]);
});

it('serves with those that there are when no other can be started', async () => {
  const log = new RecordingLog();
  const start = makeStartThread(threadEntry);
  const missing = makeStartThread(new URL('missing.js', threadEntry));
  const listener = await startUdp({
    threadEntry,
    readers: 1,
    maxReaders: 2,
    log,
    startThread: (data) => (data.reader === 0 ? start(data) : missing(data)),
  });
  const load = startToil(getPort(listener));
  await waitUntil('the failure', () =>
    log.records.some(({ message }) => message.startsWith('no more readers')),
  );
  const before = load.answered;
  await waitUntil('answers', () => load.answered > before + 500);
  await load.stop();
  expect(load).toMatchObject({ lost: 0, asked: load.answered });
  expect(listener.count()).toMatchObject({ down: 0, restarts: 0 });
  expect(listener.count().readers).toHaveLength(1);
});
