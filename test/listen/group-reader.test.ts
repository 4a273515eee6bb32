/**
 * One reader thread for the sockets of several listener groups, which are added and removed under load.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Client } from '@portolan/kernel/chain/query.ts';
import { GroupReader, type GroupReaderOptions } from '@portolan/kernel/listen/group-reader.ts';
import { makeStartThread } from '@portolan/kernel/listen/reader-threads.ts';
import { PortInUseError } from '@portolan/kernel/socket/socket-error.ts';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { startLoad } from './load.ts';
import { answerAuthoritatively } from './scripted-answers.ts';
import { startClient, startUdp } from './scripted-udp.ts';

let threadEntry: URL;
let loadEntry: URL;
beforeAll(async () => {
  threadEntry = await bundleThread('test/listen/scripted-thread.ts');
  loadEntry = await bundleThread('test/listen/load-thread.ts');
});

const ADDRESS = '127.0.0.1';

function makeReader(changes: Partial<GroupReaderOptions> = {}): GroupReader {
  const reader = new GroupReader({
    takeover: false,
    table: new SharedArrayBuffer(0),
    udpSize: 1232,
    handleQuery: async (query) => answerAuthoritatively(query),
    onReaderDead: () => {},
    startThread: makeStartThread(threadEntry),
    grace: 2_000,
    clock: systemClock,
    log: silentLog,
    ...changes,
  });
  onTestFinished(() => reader.stop());
  return reader;
}

it('tells the group of each socket', async () => {
  const clients: Client[] = [];
  const reader = makeReader({
    handleQuery: async (query, client) => {
      clients.push(client);
      return answerAuthoritatively(query);
    },
  });
  const one = await findFreePort();
  const other = await findFreePort();
  const first = { address: ADDRESS, port: one, group: 4 };
  await reader.serve([first]);
  await reader.serve([{ address: ADDRESS, port: other, group: 7 }, first]);
  const client = await startClient();
  await client.ask('slow.example', { address: ADDRESS, port: one });
  await client.ask('slow.example', { address: ADDRESS, port: other });
  expect(clients.map(({ group, localPort }) => ({ group, localPort }))).toEqual([
    { group: 4, localPort: one },
    { group: 7, localPort: other },
  ]);
});

it('loses no query at a port that stays while others come and go', async () => {
  const reader = makeReader();
  const stays = await findFreePort();
  const goes = await findFreePort();
  const staying = { address: ADDRESS, port: stays, group: 0 };
  const going = { address: ADDRESS, port: goes, group: 1 };
  await reader.serve([staying]);
  const load = startLoad(loadEntry, { port: stays, address: ADDRESS, sockets: 4 });
  const untilServed = async () => {
    const before = load.answered;
    await waitUntil('answers', () => load.answered > before + 50);
  };
  await untilServed();
  for (const addresses of [[staying, going], [staying], [going, staying]]) {
    await reader.serve(addresses);
    await untilServed();
  }
  await load.stop();
  expect(load.lost).toBe(0);
  expect(load.asked).toBe(load.answered);
});

it('answers packets that arrived at a port which it leaves, and frees the port', async () => {
  let answer = () => {};
  const reader = makeReader({
    handleQuery: (query) =>
      new Promise((resolve) => {
        answer = () => resolve(answerAuthoritatively(query));
      }),
  });
  const stays = await findFreePort();
  const goes = await findFreePort();
  const staying = { address: ADDRESS, port: stays, group: 0 };
  await reader.serve([staying, { address: ADDRESS, port: goes, group: 1 }]);
  const asked = (await startClient()).ask('slow.example', { address: ADDRESS, port: goes });
  const idle = answer;
  await waitUntil('the question', () => answer !== idle);
  const left = reader.serve([staying]);
  answer();
  expect((await asked).from.port).toBe(goes);
  await left;
  // Only a port that nobody has can be had alone.
  await startUdp({ threadEntry, addresses: [{ address: ADDRESS, port: goes }] });
});

it('serves as before where a port is not to be had', async () => {
  const reader = makeReader();
  const own = await findFreePort();
  const others = await findFreePort();
  await startUdp({ threadEntry, addresses: [{ address: ADDRESS, port: others }] });
  await reader.serve([{ address: ADDRESS, port: own, group: 0 }]);
  const both = [own, others].map((port, group) => ({ address: ADDRESS, port, group }));
  await expect(reader.serve(both)).rejects.toThrow(PortInUseError);
  const client = await startClient();
  expect((await client.ask('fast.example', { address: ADDRESS, port: own })).from.port).toBe(own);
});
