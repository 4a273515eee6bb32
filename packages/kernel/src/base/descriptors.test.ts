import { readdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { boundsFor, findDescriptor, isReserved, maxDescriptors } from './descriptors.ts';

it('reserves an eighth for files and a quarter for upstream servers, within bounds', () => {
  expect(boundsFor(64)).toEqual({ upstream: 56, client: 40 });
  expect(boundsFor(256)).toEqual({ upstream: 224, client: 160 });
  expect(boundsFor(2 ** 20)).toEqual({ upstream: 2 ** 20 - 64, client: 2 ** 20 - 320 });
  expect(boundsFor(undefined).client).toBe(Number.POSITIVE_INFINITY);
});

it('knows the limit of this process, and that its descriptors are far from it', () => {
  expect(maxDescriptors()).toBeGreaterThan(readdirSync('/proc/self/fd').length);
  expect([isReserved('client', 3), isReserved('upstream', (maxDescriptors() ?? 0) - 1)]).toEqual([
    false,
    true,
  ]);
});

it('finds the descriptor of a socket', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const accepted = new Promise<Socket>((resolve) => server.on('connection', resolve));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const client = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1');
  const socket = await accepted;
  expect(readdirSync('/proc/self/fd')).toContain(String(findDescriptor(socket)));
  client.destroy();
  socket.destroy();
  expect(findDescriptor(socket)).toBe(undefined);
});
