import { once } from 'node:events';
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it, onTestFinished } from 'vitest';
import { EtcdClient } from './etcd-client.ts';
import { EtcdError } from './etcd-error.ts';

const RANGE = { key: Buffer.from('/a') };

/** A member that answers each call with an empty message. */
async function startMember() {
  const server: Http2Server = createServer();
  const connections = { all: 0 };
  server.on('session', (session) => {
    connections.all += 1;
    onTestFinished(() => session.destroy());
  });
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // It listens on a port.
  const endpoints = [{ secure: false, host: '127.0.0.1', port, text: `http://127.0.0.1:${port}` }];
  const client = new EtcdClient({ endpoints }, new ManualClock());
  onTestFinished(() => client.close());
  return { client, connections };
}

it('connects no more when it is closed while a channel opens', async () => {
  const { client, connections } = await startMember();
  const reading = client.range(RANGE);
  client.close();
  await expect(reading).rejects.toMatchObject({ failure: 'closed' });
  expect(connections.all).toBe(0);
});

// One of the turns is between the open channel and the call.
it.each([0, 1, 2, 3, 4, 5, 6])('does not connect again when it is closed after %i turns', async (turns) => {
  const { client, connections } = await startMember();
  await client.range(RANGE);
  const reading = client.range(RANGE);
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
  client.close();
  await expect(reading).rejects.toBeInstanceOf(EtcdError);
  expect(connections.all).toBe(1);
});
