import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { silentLog } from '../base/log.ts';
import { HttpHost } from './http-host.ts';
import { type HttpRoute, PLAIN_TEXT } from './http-route.ts';
import { HttpServerError } from './http-server.ts';

const routes = new Map<string, HttpRoute>([['/a', () => ({ status: 200, type: PLAIN_TEXT, body: 'a' })]]);
const options = { address: '127.0.0.1', port: 0, waitForPort: false, flag: '--port' };

async function makeHost(): Promise<HttpHost> {
  const host = new HttpHost(systemClock, silentLog);
  onTestFinished(() => host.stop());
  await host.open({ name: 'one', options, routes });
  return host;
}

it('opens and closes ports by their names', async () => {
  const host = await makeHost();
  await host.open({ name: 'other', options, routes });
  const one = host.portOf('one');
  const other = host.portOf('other');
  for (const port of [one, other]) expect(await (await fetch(`http://127.0.0.1:${port}/a`)).text()).toBe('a');
  await host.close(['one', 'unknown']);
  expect(host.portOf('one')).toBeUndefined();
  await expect(fetch(`http://127.0.0.1:${one}/a`)).rejects.toThrow();
  expect((await fetch(`http://127.0.0.1:${other}/a`)).status).toBe(200);
});

it('has nothing of a port that is taken', async () => {
  const host = await makeHost();
  const port = host.portOf('one') ?? 0;
  await expect(host.open({ name: 'other', options: { ...options, port }, routes })).rejects.toThrow(
    HttpServerError,
  );
  expect(host.portOf('other')).toBeUndefined();
});

it('keeps the counts of ports that have closed', async () => {
  const host = await makeHost();
  const socket = connect(host.portOf('one') ?? 0, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write('GET /a HTTP/1.1\r\n\r\nGET /a HTTP/1.1\r\n\r\n');
  socket.resume();
  await once(socket, 'close');
  const drops = host.drops;
  expect(Object.values(drops).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  await host.close(['one']);
  expect(host.drops).toEqual(drops);
});
