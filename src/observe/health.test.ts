import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { RecordingLog } from '../../test/support/recording-log.ts';
import { type HealthAnswers, HealthServer, HealthServerError, type Readiness } from './health.ts';

const clock = new ManualClock();
const log = new RecordingLog();
let readiness: Readiness = { ready: true };
let metrics = async () => 'a 1\n';
const answers: HealthAnswers = { readiness: () => readiness, metrics: () => metrics() };
const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function start(
  port = 0,
  waitForPort = false,
  address: string | undefined = '127.0.0.1',
): Promise<HealthServer> {
  const server = new HealthServer({ address, port, waitForPort }, answers, clock, log);
  cleanUps.push(() => server.stop());
  await server.start();
  return server;
}

async function get(server: HealthServer, path: string, method = 'GET'): Promise<readonly [number, string]> {
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

describe('the paths', () => {
  it('say alive, ready and why not', async () => {
    const server = await start();
    readiness = { ready: true };
    expect(await get(server, '/healthz')).toEqual([200, 'ok\n']);
    expect(await get(server, '/readyz?verbose')).toEqual([200, 'ok\n']);
    readiness = { ready: false, reason: 'services: forbidden' };
    expect(await get(server, '/readiness')).toEqual([503, 'services: forbidden\n']);
    expect(await get(server, '/readyz')).toEqual([503, 'services: forbidden\n']);
    expect(await get(server, '/healthz')).toEqual([200, 'ok\n']);
  });

  it('give metrics as they are now, or say that they could not', async () => {
    const server = await start();
    expect(await get(server, '/metrics')).toEqual([200, 'a 1\n']);
    metrics = () => Promise.reject(new Error('broken'));
    expect((await get(server, '/metrics'))[0]).toBe(500);
    expect(log.text).toContain('broken');
  });

  it('are no others, and to be read only', async () => {
    const server = await start();
    expect((await get(server, '/'))[0]).toBe(404);
    expect((await get(server, '/metrics', 'POST'))[0]).toBe(405);
    expect(await get(server, '/healthz', 'HEAD')).toEqual([200, '']);
  });

  it('are there on all addresses unless one is named', async () => {
    const server = await start(0, false, undefined);
    expect((await get(server, '/healthz'))[0]).toBe(200);
  });
});

describe('a port that another has', () => {
  it('is an error with a remedy', async () => {
    const { port, free } = await occupy();
    cleanUps.push(free);
    const failed = start(port);
    await expect(failed).rejects.toThrow(HealthServerError);
    await expect(failed).rejects.toThrow(
      `cannot listen for health checks: 127.0.0.1, port ${port}: EADDRINUSE. Choose another with --healthz-port.`,
    );
  });

  it('is waited for in a takeover', async () => {
    const { port, free } = await occupy();
    const server = await start(port, true);
    expect(server.port).toBeUndefined();
    clock.advance(1_000);
    await vi.waitFor(() => expect(clock.pending).toBe(1));
    await free();
    clock.advance(1_000);
    await vi.waitFor(() => expect(server.port).toBe(port));
    expect(await get(server, '/healthz')).toEqual([200, 'ok\n']);
  });
});

it('stops although a client keeps its connection open', async () => {
  const server = await start();
  const open = await fetch(`http://127.0.0.1:${server.port}/healthz`, {
    headers: { connection: 'keep-alive' },
  });
  await open.text();
  await server.stop();
  expect(server.port).toBeUndefined();
});
