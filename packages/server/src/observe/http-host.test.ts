import { once } from 'node:events';
import { connect } from 'node:net';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it, onTestFinished } from 'vitest';
import { NO_DROPS } from './http-connections.ts';
import { HttpHost } from './http-host.ts';
import { type HttpRoute, PLAIN_TEXT } from './http-route.ts';
import { HttpServerError } from './http-server.ts';

const routes = new Map<string, HttpRoute>([['/a', () => ({ status: 200, type: PLAIN_TEXT, body: 'a' })]]);
const options = { address: '127.0.0.1', port: 0, waitForPort: false, flag: '--port' };

async function makeHost(): Promise<HttpHost> {
  const host = new HttpHost({ clock: systemClock, log: silentLog });
  onTestFinished(() => host.stop());
  await host.open({ name: 'one', options, routes });
  return host;
}

it('opens and closes ports by their names', async () => {
  const host = await makeHost();
  await host.open({ name: 'other', options, routes });
  const one = host.findPort('one');
  const other = host.findPort('other');
  for (const port of [one, other]) expect(await (await fetch(`http://127.0.0.1:${port}/a`)).text()).toBe('a');
  await host.close(['one', 'unknown']);
  expect(host.findPort('one')).toBeUndefined();
  await expect(fetch(`http://127.0.0.1:${one}/a`)).rejects.toThrow();
  expect((await fetch(`http://127.0.0.1:${other}/a`)).status).toBe(200);
});

it('has nothing of a port that is taken', async () => {
  const host = await makeHost();
  const port = host.findPort('one') ?? 0;
  await expect(host.open({ name: 'other', options: { ...options, port }, routes })).rejects.toThrow(
    HttpServerError,
  );
  expect(host.findPort('other')).toBeUndefined();
});

it('keeps the counts of ports that have closed', async () => {
  const host = await makeHost();
  const socket = connect(host.findPort('one') ?? 0, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write('GET /a HTTP/1.1\r\n\r\nGET /a HTTP/1.1\r\n\r\n');
  socket.resume();
  await once(socket, 'close');
  const drops = host.drops;
  expect(Object.values(drops).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  await host.close(['one']);
  expect(host.drops).toEqual(drops);
});

it('opens no two ports of a name', async () => {
  const host = await makeHost();
  await expect(host.open({ name: 'one', options, routes })).rejects.toThrow('of this name is open: one');
  expect(host.findPort('one')).toBeDefined();
});

it('counts the connections of each port', async () => {
  const host = await makeHost();
  await host.open({ name: 'other', options, routes });
  const socket = connect(host.findPort('other') ?? 0, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write('GET /a HTTP/1.1\r\n\r\nGET /a HTTP/1.1\r\n\r\n');
  socket.resume();
  await once(socket, 'close');
  expect(host.countDrops('other').pipelined).toBe(1);
  expect(host.countDrops('one')).toEqual(NO_DROPS);
  expect(host.countDrops('unknown')).toEqual(NO_DROPS);
});

it('leaves nothing open when it stops while a port opens', async () => {
  const host = await makeHost();
  const port = host.findPort('one') ?? 0;
  await host.close(['one']);
  const opening = host.open({ name: 'one', options: { ...options, port }, routes });
  await host.stop();
  await opening;
  await expect(fetch(`http://127.0.0.1:${port}/a`)).rejects.toThrow();
});

it('waits for no port after it has stopped, not even if it stops during a try', async () => {
  const holder = await makeHost();
  const port = holder.findPort('one') ?? 0;
  const clock = new ManualClock();
  const host = new HttpHost({ clock, log: silentLog });
  await host.open({ name: 'one', options: { ...options, port, waitForPort: true }, routes });
  expect(clock.pending).toBe(1);
  clock.advance(1_000);
  await host.stop();
  // The answer takes longer than a try to listen.
  await fetch(`http://127.0.0.1:${port}/a`);
  expect(clock.pending).toBe(0);
});
