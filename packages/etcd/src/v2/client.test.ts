import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, it, onTestFinished } from 'vitest';
import { EtcdV2Client } from './client.ts';

const FIXTURES = join(import.meta.dirname, '../../../../test/api-server/tls');
const readFixture = (name: string) => readFileSync(join(FIXTURES, name));

/** A member that answers each read with an empty folder, and closes no connection by itself. */
async function startMember() {
  const found = { action: 'get', node: { key: '/a', dir: true, nodes: [] } };
  const server: Server = createServer(
    { cert: readFixture('server.crt'), key: readFixture('server.key'), keepAliveTimeout: 0 },
    (_, response) => response.end(JSON.stringify(found)),
  );
  const connections = { open: 0, all: 0 };
  server.on('connection', (socket) => {
    connections.open += 1;
    connections.all += 1;
    socket.on('close', () => {
      connections.open -= 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // It listens on a port.
  return { port, connections };
}

function connect(port: number, authority: string): EtcdV2Client {
  const text = `https://127.0.0.1:${port}`;
  const endpoints = [{ secure: true, host: '127.0.0.1', port, text }];
  const client = new EtcdV2Client({ endpoints, tls: { authority } }, systemClock);
  onTestFinished(() => client.close());
  return client;
}

it('closes the connections of calls that began at once', async () => {
  const { port, connections } = await startMember();
  const client = connect(port, join(FIXTURES, 'authority.crt'));
  await Promise.all([client.read('/a'), client.read('/a'), client.read('/a')]);
  expect(connections.open).toBe(3);
  client.close();
  await waitUntil('all connections to be closed', () => connections.open === 0, { deadline: 5_000 });
});

it('sends nothing when it is closed while it reads its certificates', async () => {
  const { port, connections } = await startMember();
  const client = connect(port, join(FIXTURES, 'authority.crt'));
  const reading = client.read('/a');
  client.close();
  await expect(reading).rejects.toMatchObject({ failure: 'closed' });
  expect(connections.all).toBe(0);
});

it('reads its certificates again after they could not be read', async () => {
  const { port } = await startMember();
  const folder = await makeTemporaryFolder();
  const client = connect(port, join(folder.path, 'authority.crt'));
  const first = await Promise.allSettled([client.read('/a'), client.read('/a')]);
  expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await folder.write('authority.crt', readFixture('authority.crt'));
  expect((await client.read('/a')).nodes).toEqual([]);
});
