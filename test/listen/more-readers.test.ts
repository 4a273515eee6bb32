/**
 * Readers that are started when the others have too much to do.
 */
import { beforeAll, expect, it } from 'vitest';
import { RecordingLog } from '../../src/base/testing/recording-log.ts';
import { waitUntil } from '../../src/base/testing/wait-until.ts';
import { startThreadOf } from '../../src/listen/reader-threads.ts';
import { bundleThread } from '../support/bundle-thread.ts';
import { type Load, startLoad } from './load.ts';
import { portOf, startClient, startUdp } from './scripted-udp.ts';

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
  const load = startToil(portOf(listener));
  await waitUntil('packets of the second reader', () => (packets()[1] ?? 0) > 100);
  expect(listener.count().down).toBe(0);
  await load.stop();
  expect(load).toMatchObject({ lost: 0, asked: load.answered });
  const numbers = () =>
    log.records.filter(({ message }) => message === 'packets go to another number of readers');
  await waitUntil('one reader to be enough', () => numbers().at(-1)?.fields['readers'] === 1);
  const before = packets();
  for (let turn = 0; turn < 40; turn++)
    await (await startClient()).ask('fast.example', portOf(listener), ADDRESS);
  await waitUntil('all to be counted', () => packets()[0] === (before[0] ?? 0) + 40);
  expect(packets()[1]).toBe(before[1]);
});

it('serves with those that there are when no other can be started', async () => {
  const log = new RecordingLog();
  const start = startThreadOf(threadEntry);
  const missing = startThreadOf(new URL('missing.js', threadEntry));
  const listener = await startUdp({
    ...{ threadEntry, readers: 1, maxReaders: 2, log },
    startThread: (data) => (data.reader === 0 ? start(data) : missing(data)),
  });
  const load = startToil(portOf(listener));
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
