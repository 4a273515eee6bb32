/**
 * The table with all listeners: the same answers by batches, by datagrams and over TCP, and readers that are killed while they
 * work.
 */

import { Worker } from 'node:worker_threads';
import { frame } from '@portolan/dns/frames.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Client, HandleQuery } from '@portolan/kernel/chain/query.ts';
import { listenByDatagrams } from '@portolan/kernel/listen/datagram.ts';
import { listenOnTcp } from '@portolan/kernel/listen/tcp.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import {
  addressNode,
  cachedAddress,
  node,
  settings,
  showAll,
} from '@portolan/kernel/table/testing/table-answers.ts';
import { type ClientViews, DEFAULT_VIEW_SETTINGS } from '@portolan/kernel/table/types.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import { decode } from 'dns-packet';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundleServerThreads, bundleThread } from '../support/bundle-thread.ts';
import { startLoad } from './load.ts';
import { answerAuthoritatively } from './scripted-answers.ts';
import { getPort, startClient, startUdp } from './scripted-udp.ts';
import { TcpClient } from './tcp-client.ts';

const READERS = 2;
const DROPPED: ClientViews = { kind: 'dropped' };

let threadEntry: URL;
let loadEntry: URL;
beforeAll(async () => {
  threadEntry = await bundleServerThreads();
  loadEntry = await bundleThread('test/listen/load-thread.ts');
});

/** A table with a few names. Its last reader is the main thread's. */
function makeTable() {
  const table = new TableWriter({ readers: READERS + 1, reservation: 64 * 2 ** 20 });
  const zone = table.defineZone(settings('cluster.local'));
  table.put(node('cluster.local', zone));
  table.put(addressNode('one.cluster.local', zone, ['10.0.0.1']));
  table.cache(cachedAddress('example.com', '192.0.2.7', 60), systemClock.monotonic());
  return { table, zone, answers: new TableReader(table.memory, READERS) };
}

const handleQuery: HandleQuery = async (query) => answerAuthoritatively(query);

/** What matters of a response, in one line. */
function summary(message: Buffer): string {
  const packet = decode(message);
  const code = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN'][message.readUInt8(3) & 15];
  const records = (packet.answers ?? []).map((answer) => ('data' in answer ? String(answer.data) : ''));
  return `${code} ${packet.flag_aa ? 'aa' : ''} ${records} ${(packet.authorities ?? []).length}`;
}

describe('every listener', () => {
  it('gives the same answers', async () => {
    const { table, answers } = makeTable();
    const dependencies = { clock: systemClock, log: silentLog, handleQuery, udpSize: 1232 };
    const addresses = [{ address: '127.0.0.1', port: 0 }];
    const batches = await startUdp({ threadEntry, table: table.memory, readers: READERS });
    const datagrams = await listenByDatagrams({ ...dependencies, addresses, answers });
    onTestFinished(() => datagrams.stop(0));
    const tcp = await listenOnTcp({ ...dependencies, addresses, answers, takeover: false, native: true });
    onTestFinished(() => tcp.stop(0));
    const udpClient = await startClient();
    const tcpClient = new TcpClient(tcp.endpoints[0]?.port ?? 0, '127.0.0.1');
    const expected = {
      'one.cluster.local': 'NOERROR aa 10.0.0.1 0',
      'ONE.cluster.LOCAL': 'NOERROR aa 10.0.0.1 0',
      'two.cluster.local': 'NXDOMAIN aa  1',
      'cluster.local': 'NOERROR aa  1',
      'example.com': 'NOERROR  192.0.2.7 0',
      'asked.example.com': 'NOERROR aa  0',
    };
    for (const [name, answer] of Object.entries(expected)) {
      for (const listener of [batches, datagrams]) {
        expect(
          summary((await udpClient.ask(name, { address: '127.0.0.1', port: getPort(listener) })).message),
        ).toBe(answer);
      }
      tcpClient.messages.length = 0;
      tcpClient.send(frame(queryFor(name, 1)));
      const [message] = await tcpClient.waitForMessages(1);
      expect(summary(message ?? Buffer.alloc(0))).toBe(answer);
    }
  });

  it('asks the view of its listener group and of the client, at once or by the handlers', async () => {
    const { table, answers } = makeTable();
    const views = ['10.0.1.0', '10.0.2.0', '10.0.3.0'].map((address) => {
      const id = table.definePublication();
      const zone = table.defineZone(settings('.', { missing: 'ask' }), id);
      table.put(addressNode('one.cluster.local', zone, [address]));
      return table.defineView({ ...DEFAULT_VIEW_SETTINGS, publications: [id] });
    });
    const [first, second, near] = views.map((view) => showAll(view).others);
    const prefixes = [{ range: { address: '127.0.7.0', prefix: 24 }, views: near ?? DROPPED }];
    table.showViews([
      { prefixes: [], others: first ?? DROPPED },
      { prefixes, others: second ?? DROPPED },
    ]);
    const asked: string[] = [];
    const dependencies = {
      clock: systemClock,
      log: silentLog,
      handleQuery: async (query: Uint8Array, { address, group, transport }: Client) => {
        asked.push(`${transport} ${group} ${address}`);
        return answerAuthoritatively(query);
      },
      udpSize: 1232,
    };
    const addresses = [0, 1].map((group) => ({ address: '127.0.0.1', port: 0, group }));
    const { handleQuery: handle } = dependencies;
    const byBatches = { threadEntry, table: table.memory, readers: READERS, addresses, handleQuery: handle };
    const batches = await startUdp(byBatches);
    const datagrams = await listenByDatagrams({ ...dependencies, addresses, answers });
    onTestFinished(() => datagrams.stop(0));
    const tcp = await listenOnTcp({ ...dependencies, addresses, answers, takeover: false, native: true });
    onTestFinished(() => tcp.stop(0));
    for (const [client, group, address] of [
      ['127.0.0.9', 0, '10.0.1.0'],
      ['127.0.7.9', 0, '10.0.1.0'],
      ['127.0.0.9', 1, '10.0.2.0'],
      ['127.0.7.9', 1, '10.0.3.0'],
    ] as const) {
      const udpClient = await startClient('udp4', client);
      for (const listener of [batches, datagrams]) {
        const port = listener.endpoints[group]?.port ?? 0;
        const { message } = await udpClient.ask('one.cluster.local', { address: '127.0.0.1', port });
        expect(summary(message)).toBe(`NOERROR aa ${address} 0`);
        await udpClient.ask('asked.example', { address: '127.0.0.1', port });
      }
      const tcpClient = new TcpClient(tcp.endpoints[group]?.port ?? 0, '127.0.0.1', client);
      tcpClient.send(frame(queryFor('one.cluster.local', 1)));
      const [message] = await tcpClient.waitForMessages(1);
      expect(summary(message ?? Buffer.alloc(0))).toBe(`NOERROR aa ${address} 0`);
      tcpClient.send(frame(queryFor('asked.example', 1)));
      await tcpClient.waitForMessages(2);
      const where = `${group} ${client}`;
      expect(asked.splice(0)).toEqual([`udp ${where}`, `udp ${where}`, `tcp ${where}`]);
    }
  });

  it('gives a changed answer to the next query', async () => {
    const { table, zone } = makeTable();
    const listener = await startUdp({ threadEntry, table: table.memory, readers: READERS });
    const client = await startClient();
    for (let change = 0; change < 200; change++) {
      const address = `10.1.${change >> 4}.${change & 15}`;
      table.put(addressNode('one.cluster.local', zone, [address]));
      const { message } = await client.ask('one.cluster.local', {
        address: '127.0.0.1',
        port: getPort(listener),
      });
      expect(summary(message)).toBe(`NOERROR aa ${address} 0`);
    }
  });
});

describe('readers that are killed', () => {
  it('are replaced, lose next to nothing, and keep no memory from being reclaimed', async () => {
    const { table, zone } = makeTable();
    const workers = new Set<Worker>();
    const listener = await startUdp({
      threadEntry,
      table: table.memory,
      readers: READERS,
      onReaderDead: (reader) => table.readerDied(reader),
      startThread: (data) => {
        const worker = new Worker(threadEntry, { workerData: data, execArgv: [] });
        workers.add(worker);
        worker.once('exit', () => workers.delete(worker));
        return worker;
      },
    });
    const load = startLoad(loadEntry, { port: getPort(listener), address: '127.0.0.1', sockets: 16 });
    for (let kill = 1; kill <= 6; kill++) {
      const before = load.answered;
      await waitUntil('answers', () => load.answered > before + 200, {
        step: () => {
          table.put(addressNode('one.cluster.local', zone, [`10.2.${kill}.${load.answered & 255}`]));
          table.collect();
        },
      });
      const [worker] = workers;
      await worker?.terminate();
      await waitUntil('the successor', () => listener.count().restarts === kill && workers.size === READERS);
    }
    await load.stop();
    table.collect();
    table.collect();
    expect(table.statistics().awaitingReaders).toBe(0);
    // A batch in hand at the moment of death is lost with it.
    expect(load.lost).toBeLessThanOrEqual(6 * 16);
    expect(listener.count().readers.every(({ faults }) => faults === 0)).toBe(true);
  });
});
