import { createSocket, type RemoteInfo } from 'node:dgram';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, it, onTestFinished } from 'vitest';
import { isAnsweredAt, isServedAt } from './local-probe.ts';

const ADDRESS = '127.0.0.1';

/** A server that leaves the first queries unanswered. */
async function startServer(unanswered: number): Promise<{ readonly port: number; readonly queries: number }> {
  const socket = createSocket('udp4');
  const server = { port: 0, queries: 0 };
  socket.on('message', (query: Buffer, { port }: RemoteInfo) => {
    server.queries += 1;
    if (server.queries > unanswered) socket.send(query, port, ADDRESS);
  });
  await new Promise<void>((resolve) => socket.bind(0, ADDRESS, resolve));
  onTestFinished(() => void socket.close());
  server.port = socket.address().port;
  return server;
}

it('says at once that a port is closed', async () => {
  const port = await findFreePort();
  const clock = new ManualClock();
  expect(await isAnsweredAt(ADDRESS, port, clock)).toBe(false);
  expect(await isServedAt(ADDRESS, port, clock)).toBe(false);
});

it('takes an answer for a server', async () => {
  const { port } = await startServer(0);
  expect(await isAnsweredAt(ADDRESS, port, systemClock)).toBe(true);
  expect(await isServedAt(ADDRESS, port, systemClock)).toBe(true);
});

it('asks a busy server again, but not without end', async () => {
  const clock = new ManualClock();
  const busy = await startServer(2);
  const served = isServedAt(ADDRESS, busy.port, clock);
  for (const queries of [1, 2]) {
    await waitUntil('a query', () => busy.queries === queries);
    clock.advance(1_000);
  }
  expect(await served).toBe(true);
  const silent = await startServer(Number.POSITIVE_INFINITY);
  const last = isServedAt(ADDRESS, silent.port, clock);
  for (let queries = 1; queries <= 10; queries++) {
    await waitUntil('a query', () => silent.queries === queries);
    clock.advance(1_000);
  }
  expect(await last).toBe(false);
});
