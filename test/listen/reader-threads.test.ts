/**
 * A reader thread that is started before it has anything to serve.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { ReaderData } from '@portolan/kernel/listen/reader-loop.ts';
import { PreparedReader } from '@portolan/kernel/listen/reader-threads.ts';
import { beforeAll, expect, it } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { getPort, startClient, startUdp } from './scripted-udp.ts';

let threadEntry: URL;
beforeAll(async () => {
  threadEntry = await bundleThread('test/listen/scripted-thread.ts');
});

const WITHOUT_EFFECT = {} as ReaderData;

it('serves what it is given later, once', async () => {
  const prepared = new PreparedReader(threadEntry);
  const taken: boolean[] = [];
  const startThread = (data: ReaderData) => {
    const worker = prepared.take(data);
    taken.push(worker !== undefined);
    if (worker === undefined) throw new Error('there is no thread');
    return worker;
  };
  const listener = await startUdp({ threadEntry, startThread });
  const client = await startClient();
  const { message } = await client.ask('fast.example', { address: '127.0.0.1', port: getPort(listener) });
  expect(message.readUInt8(2) & 0x80).toBe(0x80);
  expect(taken).toEqual([true]);
  expect(prepared.take(WITHOUT_EFFECT)).toBeUndefined();
  // It is the listener's now.
  await prepared.end();
  await client.ask('slow.example', { address: '127.0.0.1', port: getPort(listener) });
});

it('is not there to be taken when it was ended', async () => {
  const prepared = new PreparedReader(threadEntry);
  await prepared.end();
  expect(prepared.take(WITHOUT_EFFECT)).toBeUndefined();
});

it('is not there to be taken when its code cannot be loaded', async () => {
  const prepared = new PreparedReader(new URL('missing.js', threadEntry));
  await waitUntil('the end of the thread', () => !prepared.isWaiting);
  expect(prepared.take(WITHOUT_EFFECT)).toBeUndefined();
});
