import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, Server } from 'node:net';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type HttpRoute, PLAIN_TEXT } from './http-route.ts';
import { HttpServer, HttpServerError } from './http-server.ts';
import { openSharedPort } from './shared-port.ts';

const clock = new ManualClock();
const log = new RecordingLog();
const routes = new Map<string, HttpRoute>([
  ['/word', () => ({ status: 200, type: PLAIN_TEXT, body: 'grüße\n' })],
  ['/later', async () => ({ status: 503, type: 'application/json', body: '{}' })],
  ['/broken', () => Promise.reject(new Error('a secret'))],
  ['/pieces', () => ({ status: 200, type: PLAIN_TEXT, body: pieces(['a', 'b']) })],
  ['/half', () => ({ status: 200, type: PLAIN_TEXT, body: pieces(['a'], new Error('no more')) })],
]);

async function* pieces(texts: readonly string[], error?: Error): AsyncGenerator<string, void> {
  yield* texts;
  if (error !== undefined) throw error;
}

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

interface Choice {
  readonly port?: number;
  readonly waitForPort?: boolean;
  readonly openPort?: typeof openSharedPort;
  readonly address?: string | undefined;
}

async function start(choice: Choice = {}): Promise<HttpServer> {
  const options = { address: '127.0.0.1', port: 0, waitForPort: false, flag: '--some-port', ...choice };
  const server = new HttpServer(options, routes, { clock, log });
  cleanUps.push(() => server.stop());
  await server.start();
  return server;
}

async function get(server: HttpServer, path: string, method = 'GET'): Promise<readonly [number, string]> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
  return [response.status, await response.text()];
}

async function occupy(): Promise<{ port: number; free: () => Promise<void> }> {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const free = () => new Promise<void>((resolve) => other.close(() => resolve()));
  const { port } = other.address() as AddressInfo; // Listens on a port.
  return { port, free };
}

describe('a path', () => {
  it('is answered by its function, whatever is asked behind it', async () => {
    const server = await start();
    expect(await get(server, '/word?verbose')).toEqual([200, 'grüße\n']);
    const response = await fetch(`http://127.0.0.1:${server.port}/later`);
    expect([response.status, response.headers.get('content-type')]).toEqual([503, 'application/json']);
  });

  it('that fails is told to the client and explained in the log', async () => {
    const server = await start();
    expect(await get(server, '/broken')).toEqual([500, 'internal error: see the log\n']);
    expect(log.text).toContain('a secret');
  });

  it('may be answered in pieces', async () => {
    const server = await start();
    expect(await get(server, '/pieces')).toEqual([200, 'ab']);
    expect(await get(server, '/pieces', 'HEAD')).toEqual([200, '']);
  });

  it('that fails after its first piece breaks off, so that no client takes it for whole', async () => {
    const server = await start();
    await expect(get(server, '/half')).rejects.toThrow();
    expect(log.text).toContain('no more');
  });

  it('that is not there names those that are', async () => {
    const server = await start();
    expect(await get(server, '/')).toEqual([
      404,
      `not found: the paths are ${[...routes.keys()].join(', ')}\n`,
    ]);
    routes.set('/new', () => ({ status: 200, type: PLAIN_TEXT, body: 'new' }));
    expect(await get(server, '/new')).toEqual([200, 'new']);
  });

  it('is to be read only', async () => {
    const server = await start();
    const response = await fetch(`http://127.0.0.1:${server.port}/word`, { method: 'POST', body: 'x' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await get(server, '/word', 'HEAD')).toEqual([200, '']);
  });

  it('is there on all addresses unless one is named', async () => {
    const server = await start({ address: undefined });
    expect((await get(server, '/word'))[0]).toBe(200);
  });
});

describe('a port that another has', () => {
  it('is an error with a remedy', async () => {
    const { port, free } = await occupy();
    cleanUps.push(free);
    const failed = start({ port });
    await expect(failed).rejects.toThrow(HttpServerError);
    await expect(failed).rejects.toThrow(
      `cannot listen for HTTP: 127.0.0.1, port ${port}: EADDRINUSE. Choose another with --some-port.`,
    );
  });

  it('is waited for in a takeover', async () => {
    const { port, free } = await occupy();
    const server = await start({ port, waitForPort: true });
    expect(server.port).toBeUndefined();
    clock.advance(1_000);
    await expect.poll(() => clock.pending).toBe(1);
    await free();
    clock.advance(1_000);
    await expect.poll(() => server.port).toBe(port);
    expect(await get(server, '/word')).toEqual([200, 'grüße\n']);
  });

  it('may be waited for as long as it takes: no try leaves a listener behind', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen');
    cleanUps.push(async () => listen.mockRestore());
    const { port, free } = await occupy();
    const server = await start({ port, waitForPort: true });
    const http = listen.mock.contexts.at(-1) as Server; // Of `listen`.
    const count = () => ['listening', 'error'].map((name) => http.listenerCount(name));
    const before = count();
    for (let tries = 0; tries < 12; tries++) {
      clock.advance(1_000);
      await expect.poll(() => clock.pending).toBe(1);
    }
    expect(count()).toEqual(before);
    await free();
    clock.advance(1_000);
    await expect.poll(() => server.port).toBe(port);
    // One later error is logged once.
    expect(http.listenerCount('error')).toBe(1);
  });
});

it('names an address that the machine does not have, and the flag', async () => {
  await expect(start({ address: '192.0.2.1' })).rejects.toThrow(
    'cannot listen for HTTP: 192.0.2.1, port 0: EADDRNOTAVAIL. Choose another with --some-port.',
  );
});

describe('a port that two share in a takeover', () => {
  const shared = { waitForPort: true, openPort: openSharedPort } as const;

  it.each(['127.0.0.1', undefined])('is answered by one of them all the time (%s)', async (address) => {
    const first = await start({ ...shared, address });
    const second = await start({ ...shared, address, port: first.port ?? 0 });
    expect(second.port).toBe(first.port);
    await first.stop();
    expect(await get(second, '/word')).toEqual([200, 'grüße\n']);
  });

  it('is waited for where the other one does not share it', async () => {
    const { port, free } = await occupy();
    const server = await start({ ...shared, port });
    expect(server.port).toBeUndefined();
    await free();
    clock.advance(1_000);
    await expect.poll(() => server.port).toBe(port);
  });
});

it('stops although a client keeps its connection open', async () => {
  const server = await start();
  const socket = connect(server.port ?? 0, '127.0.0.1');
  socket.write('GET /word HTTP/1.1\r\n');
  await once(socket, 'connect');
  const closed = once(
    socket.on('error', () => {}),
    'close',
  );
  await get(server, '/word');
  await server.stop();
  await closed;
  expect(server.port).toBeUndefined();
});

describe('the first octets of a connection', () => {
  /** @returns everything that the server sends until it closes the connection */
  async function exchange(server: HttpServer, ...chunks: readonly string[]): Promise<string> {
    const socket = connect(server.port ?? 0, '127.0.0.1').setNoDelay();
    let received = '';
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        received += String(chunk);
      });
    for (const chunk of chunks) {
      socket.write(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => socket.once('close', resolve));
    return received;
  }

  const GET = 'GET /word HTTP/1.1\r\nhost: x\r\n\r\n';

  it('are one request, in one piece or in several', async () => {
    const server = await start();
    expect(await exchange(server, GET)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*grüße\n$/s);
    expect(await exchange(server, GET.slice(0, 20), GET.slice(20, 36), GET.slice(36))).toMatch(
      / 200 OK.*grüße/s,
    );
    expect(server.drops.pipelined).toBe(0);
  });

  it('that are several requests close the connection', async () => {
    const server = await start();
    expect(await exchange(server, GET.repeat(50))).toBe('');
    expect(await exchange(server, GET.slice(0, 10), GET.slice(10) + GET)).toBe('');
    expect(server.drops.pipelined).toBe(2);
    expect(log.text).toContain('pipelined');
  });

  it('that never end close the connection', async () => {
    const server = await start();
    expect(await exchange(server, `GET /word HTTP/1.1\r\nx: ${'x'.repeat(20_000)}`)).toBe('');
    expect(server.drops['too-large']).toBe(1);
  });

  it('that come slowly have five seconds in all', async () => {
    const server = await start();
    const socket = connect(server.port ?? 0, '127.0.0.1').setNoDelay();
    const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
    for (let second = 0; second < 5; second += 1) {
      socket.write('GET /word HTTP/1.1\r\n'.slice(second * 3, (second + 1) * 3));
      await expect.poll(() => clock.pending).toBe(1);
      expect(server.drops.timeout).toBe(0);
      clock.advance(1_000);
    }
    await closed;
    expect(server.drops.timeout).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('leave no timer behind once they are a request', async () => {
    const server = await start();
    await exchange(server, GET);
    expect(clock.pending).toBe(0);
    clock.advance(5_000);
    expect(server.drops.timeout).toBe(0);
  });

  it('may be a request with a body, which is refused as one', async () => {
    const server = await start();
    const post = 'POST /word HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbody';
    expect(await exchange(server, post)).toMatch(/^HTTP\/1\.1 405 /);
  });

  it('that are no HTTP are told so', async () => {
    const server = await start();
    expect(await exchange(server, '\x16\x03\x01 hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });
});
