/**
 * Requests to the API server, directly and through proxies.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { fixedBytes } from '@portolan/kubernetes/api/connection/byte-source.ts';
import { HttpConnection } from '@portolan/kubernetes/api/connection/http-connection.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startHttpProxy, startSocksProxy, type TestProxy } from '../support/proxies.ts';
import { ask, connect, kubeconfig, readAll, startServer } from './harness.ts';

describe('proxies', () => {
  async function viaProxy(start: () => Promise<TestProxy>, scheme: string, tls: 'none' | 'mutual') {
    const proxy = await start();
    onTestFinished(() => proxy.stop());
    const server = await startServer({ tls });
    const folder = await makeTemporaryFolder();
    const cluster = { 'proxy-url': `${scheme}://user:pass@127.0.0.1:${proxy.port}` };
    const text = kubeconfig({ server: server.url.replace('127.0.0.1', 'localhost'), cluster });
    const connection = await connect({ kubecfgFile: await folder.write('config', text) });
    return { proxy, connection, server };
  }

  test.each(['none', 'mutual'] as const)(
    'HTTP with CONNECT, TLS %s, one tunnel for many requests',
    async (tls) => {
      const { proxy, connection, server } = await viaProxy(startHttpProxy, 'http', tls);
      expect(await ask(connection)).toBe(200);
      expect(await ask(connection)).toBe(200);
      expect(proxy.targets).toEqual([`localhost:${server.port}`]);
      expect(proxy.authorizations).toEqual([`Basic ${Buffer.from('user:pass').toString('base64')}`]);
      expect(`${connection.server} ${connection.source}`).not.toContain('pass');
    },
  );

  test('SOCKS5, with the name resolved by the proxy', async () => {
    const proxy = await startSocksProxy();
    onTestFinished(() => proxy.stop());
    const server = await startServer();
    const folder = await makeTemporaryFolder();
    const cluster = { 'proxy-url': `socks5://127.0.0.1:${proxy.port}` };
    const text = kubeconfig({ server: `https://localhost:${server.port}`, cluster });
    const connection = await connect({ kubecfgFile: await folder.write('config', text) });
    expect(await ask(connection)).toBe(200);
    expect(proxy.targets).toEqual([`localhost:${server.port}`]);
  });
});

describe('requests', () => {
  test('a server that does not answer in time is an error, by our own clock', async () => {
    const server = await startServer({ tls: 'none' });
    server.faults.add({ fault: { kind: 'stall' } });
    const clock = new ManualClock();
    const connection = await connect({ masterUrl: server.url, clock });
    const answer = connection.request('/api/v1/services', { timeout: 5_000 });
    const failed = expect(answer).rejects.toThrow(`${server.url}: no answer within 5 s`);
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(5_000);
    await failed;
  });

  test('credentials are never sent over plain HTTP', async () => {
    const server = await startServer({ tls: 'none' });
    const user = { token: fixedBytes(Buffer.from('a-secret')), headers: { 'impersonate-user': 'x' } };
    const settings = { server: new URL(server.url), source: 'test', verify: true, user };
    const connection = new HttpConnection(settings, systemClock);
    onTestFinished(() => connection.close());
    await ask(connection);
    expect(server.requests.at(-1)?.headers).not.toHaveProperty('authorization');
    expect(server.requests.at(-1)?.headers).not.toHaveProperty('impersonate-user');
  });

  test('a closed port is an error that names the server', async () => {
    const server = await startServer({ tls: 'none' });
    await server.stop();
    const connection = await connect({ masterUrl: server.url });
    await expect(ask(connection)).rejects.toThrow(new RegExp(`^${server.url}: connect ECONNREFUSED`));
  });

  test('a kept connection that the server closed meanwhile is opened again', async () => {
    const server = await startServer({ tls: 'none' });
    const connection = await connect({ masterUrl: server.url });
    for (let round = 0; round < 20; round += 1) {
      expect(await ask(connection)).toBe(200);
      await server.restart();
    }
  });

  test('a packed answer is unpacked', async () => {
    const text = JSON.stringify({ kind: 'ServiceList', items: 'x'.repeat(200_000) });
    const server = createServer((request, response) => {
      expect(request.headers['accept-encoding']).toBe('gzip');
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync(text));
    });
    const connection = await connect({ masterUrl: await listen(server) });
    expect(await readAll(await connection.request('/api/v1/services'))).toBe(text);
  });

  test.each([
    ['gzip', {}],
    ['gzip', { 'disable-compression': false }],
    ['identity', { 'disable-compression': true }],
  ])('answers are asked for with %s, with %j in the kubeconfig', async (expected, cluster) => {
    const server = createServer((request, response) => {
      response.end(String(request.headers['accept-encoding']));
    });
    const folder = await makeTemporaryFolder();
    const text = kubeconfig({ server: await listen(server), cluster });
    const connection = await connect({ kubecfgFile: await folder.write('config', text) });
    expect(await readAll(await connection.request('/'))).toBe(expected);
  });

  test('a packed answer that is cut off is an error', async () => {
    const packed = gzipSync(randomBytes(200_000));
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length });
      response.write(packed.subarray(0, 100_000), () => response.destroy());
    });
    const connection = await connect({ masterUrl: await listen(server) });
    await expect(readAll(await connection.request('/'))).rejects.toThrow();
  });

  test('a connection is replaced after 15 minutes, and used again until then', async () => {
    const server = await startServer({ tls: 'none' });
    const clock = new ManualClock();
    const connection = await connect({ masterUrl: server.url, clock });
    const ports = new Set<number>();
    const record = async () => {
      expect(await ask(connection)).toBe(200);
      ports.add(server.lastClientPort);
    };
    for (let round = 0; round < 5; round += 1) {
      await record();
      clock.advance(60_000);
    }
    expect(ports.size).toBe(1);
    clock.advance(900_000);
    await record();
    await record();
    expect(ports.size).toBe(2);
  });

  test('a server that takes connections and does not speak TLS is unreachable', async () => {
    const server = createTcpServer(() => {});
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
    );
    onTestFinished(() => void server.close());
    const clock = new ManualClock();
    const connection = await connect({ masterUrl: `https://127.0.0.1:${port}`, clock });
    const connected = once(server, 'connection');
    const answer = connection.request('/', { connectTimeout: 3_000 });
    const failed = expect(answer).rejects.toMatchObject({ reason: 'unreachable' });
    const [socket] = await connected;
    clock.advance(3_000);
    await failed;
    socket.destroy();
  });

  test('an address with a path is kept', async () => {
    const server = await startServer({ tls: 'none' });
    const connection = await connect({ masterUrl: `${server.url}/k8s/clusters/c-1/` });
    expect(await ask(connection)).toBe(404);
    expect(server.requests.at(-1)?.path).toBe('/k8s/clusters/c-1/api/v1/services');
  });
});

/** @returns the address of a server that is stopped at the end of the test */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // Of a TCP server.
}
