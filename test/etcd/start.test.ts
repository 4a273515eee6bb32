/**
 * Servers that start while their etcd is slow: the first answer already comes from its keys.
 */
import { connect, createServer, type Socket } from 'node:net';
import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';
import { type EtcdCluster, startEtcd } from './etcd-server.ts';

/** Milliseconds until etcd hears of a connection. A server that opens its sockets before it has read the keys is up by then. */
const DELAY = 700;

afterEach(endAllPrograms);

async function startKeys(): Promise<EtcdCluster> {
  const etcd = await startEtcd();
  const client = new EtcdClient(etcd.settings, systemClock);
  onTestFinished(() => client.close());
  const value = Buffer.from('{"host":"10.0.0.1"}');
  const key = Buffer.from('/skydns/test/skydns/a');
  await client.transact({ conditions: [], operations: [{ kind: 'put', key, value }] });
  return etcd;
}

/** A way to etcd that takes its time. @returns its URL */
async function startSlowWay({ first }: EtcdCluster): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {});
    const { hostname, port } = new URL(first.url);
    setTimeout(() => {
      const onward = connect(Number(port), hostname);
      sockets.add(onward);
      onward.on('error', () => client.destroy()).on('close', () => client.destroy());
      client.pipe(onward).pipe(client);
    }, DELAY);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

/** Asks until there is an answer. */
async function askFirst(server: DnsServer, transport: 'udp' | 'tcp'): Promise<string> {
  for (const end = performance.now() + 30_000; performance.now() < end; ) {
    const question = askShort(server, 'a.skydns.test.', 'A', { transport, deadline: 100 });
    const answer = await question.catch(() => undefined);
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('no answer');
}

async function startServer(role: 'coredns' | 'skydns', url: string): Promise<DnsServer> {
  const port = await findFreePort();
  const server = { address: '127.0.0.1', port };
  if (role === 'skydns') {
    const words = ['-etcd3', '-machines', url, '-addr', `127.0.0.1:${port}`, '-nameservers', '127.0.0.1:9'];
    runPortolan(['skydns', '-domain', 'skydns.test.', ...words]);
    return server;
  }
  const folder = await makeTemporaryFolder();
  const block = `skydns.test {\nbind 127.0.0.1\netcd {\nendpoint ${url}\n}\n}\n`;
  const conf = await folder.write('Corefile', block);
  runPortolan(['coredns', '-conf', conf, '-dns.port', String(port)]);
  return server;
}

describeWithTool('etcd', 'a start beside etcd', () => {
  it.each(['coredns', 'skydns'] as const)('%s answers nothing before the keys are read', async (role) => {
    const url = await startSlowWay(await startKeys());
    const server = await startServer(role, url);
    const answers = await Promise.all([askFirst(server, 'udp'), askFirst(server, 'tcp')]);
    expect(answers).toEqual(['10.0.0.1', '10.0.0.1']);
  });
});
