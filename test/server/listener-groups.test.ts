/**
 * Listener groups with their own kind of reader thread: queries that it has received are answered even while the group is closing.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import type { HandleQuery } from '@portolan/kernel/chain/query.ts';
import { ReaderPath } from '@portolan/kernel/forward/reader-path/reader-path.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import { makeStartThread } from '@portolan/kernel/listen/reader-threads.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { ListenerGroups } from '@portolan/server/listener-groups.ts';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { answerAuthoritatively } from '../listen/scripted-answers.ts';
import { startClient } from '../listen/scripted-udp.ts';
import { bundleThread } from '../support/bundle-thread.ts';

const ADDRESS = '127.0.0.1';
const TCP = { idle: undefined, read: undefined, write: undefined, queries: undefined };

let readerEntry: URL;
beforeAll(async () => {
  readerEntry = await bundleThread('test/listen/scripted-thread.ts');
});

it('answers by the blocks before what came to a group that a change removes', async () => {
  const table = new TableWriter({ readers: 2, reservation: 2 ** 26 });
  const answer: HandleQuery = async (packet) => answerAuthoritatively(packet);
  const former = { findQueryHandler: () => answer };
  const engine = {
    table,
    reader: new TableReader(table.memory, 1),
    getListenerGroupNumber: () => 0,
    metrics: new MetricRegistry(),
    serverBlocks: {
      limits: { listRatedZones: () => [] },
      findQueryHandler: (): HandleQuery | undefined => answer,
    },
  };
  const groups = new ListenerGroups({
    engine,
    takeover: false,
    readers: 1,
    commonReaders: 1,
    udpSize: 4096,
    givesOfferedSize: false,
    forwarding: new ReaderPath(1, systemClock),
    socketLog: silentLog,
    startReader: makeStartThread(readerEntry),
    events: new QueryEventRings(1),
    log: silentLog,
    clock: systemClock,
  });
  onTestFinished(() => groups.stop());
  const port = await findFreePort();
  const server = `dns://${ADDRESS}:${port}`;
  await groups.add([
    { server, address: ADDRESS, port, tcp: TCP, readers: 1, scheme: 'dns', tls: undefined, sites: [] },
  ]);
  const client = await startClient();
  // Sent before the socket leaves its port, and taken by the main thread only after the change.
  const asked = client.ask('slow.example', { address: ADDRESS, port });
  await new Promise<void>((resolve) => process.nextTick(resolve));
  engine.serverBlocks = { limits: { listRatedZones: () => [] }, findQueryHandler: () => undefined };
  await groups.keepOnly([], former);
  expect((await asked).from.port).toBe(port);
});
