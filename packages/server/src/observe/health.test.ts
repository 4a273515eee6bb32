import { request } from 'node:http';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { afterEach, describe, expect, it } from 'vitest';
import {
  HEALTH_PORT,
  type HealthAnswers,
  type HealthPortOptions,
  healthPorts,
  METRICS_PORT,
  type Readiness,
} from './health.ts';
import { HttpHost } from './http-host.ts';

let readiness: Readiness = { ready: true };
let metrics = () => 'a 1\n';
let cache: () => Iterable<string> = () => ['{', '}'];
const answers: HealthAnswers = {
  readiness: () => readiness,
  metrics: () => metrics(),
  cache: () => cache(),
};
const log = new RecordingLog();
const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function start(changes: Partial<HealthPortOptions> = {}, from = answers) {
  const options = { address: '127.0.0.1', port: 0, waitForPort: false, ...changes };
  const clock = new ManualClock();
  const host = new HttpHost({ clock, log });
  cleanUps.push(() => host.stop());
  for (const port of healthPorts(options, from, clock)) await host.open(port);
  return { port: host.findPort(HEALTH_PORT), metricsPort: host.findPort(METRICS_PORT) };
}

async function get(port: number | undefined, path: string): Promise<readonly [number, string]> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return [response.status, await response.text()];
}

it('says alive, ready and why not', async () => {
  const { port } = await start();
  readiness = { ready: true };
  expect(await get(port, '/healthz')).toEqual([200, 'ok\n']);
  expect(await get(port, '/readyz?verbose')).toEqual([200, 'ok\n']);
  readiness = { ready: false, reason: 'services: forbidden' };
  expect(await get(port, '/readiness')).toEqual([503, 'services: forbidden\n']);
  expect(await get(port, '/readyz')).toEqual([503, 'services: forbidden\n']);
  expect(await get(port, '/healthz')).toEqual([200, 'ok\n']);
});

it('gives metrics as they are now, or says that it could not', async () => {
  const { port } = await start();
  expect(await get(port, '/metrics')).toEqual([200, 'a 1\n']);
  metrics = () => {
    throw new Error('broken');
  };
  expect((await get(port, '/metrics'))[0]).toBe(500);
  expect(log.text).toContain('broken');
  metrics = () => 'a 1\n';
});

describe('a port for metrics', () => {
  it('has a path of its own, and all others too', async () => {
    const place = { address: '127.0.0.1', port: 0, path: '/old' };
    const { port, metricsPort } = await start({ metrics: place });
    expect(metricsPort).not.toBe(port);
    for (const each of [port, metricsPort]) {
      for (const path of ['/old', '/metrics']) expect(await get(each, path)).toEqual([200, 'a 1\n']);
      expect((await get(each, '/healthz'))[0]).toBe(200);
    }
  });

  it('that another has is an error that names what chooses it', async () => {
    const { port = 0 } = await start();
    const failed = start({ metrics: { address: '127.0.0.1', port, path: '/metrics' } });
    await expect(failed).rejects.toThrow('Choose another with --prometheus-port or PROMETHEUS_PORT.');
  });
});

describe('the zone', () => {
  it('is there only where it is wanted', async () => {
    const { port } = await start();
    expect(await get(port, '/cache')).toEqual([200, '{}']);
    const other = await start({}, { readiness: answers.readiness, metrics: answers.metrics });
    expect((await get(other.port, '/cache'))[0]).toBe(404);
  });

  it('goes to one client at a time, which may be gone before its end', async () => {
    const piece = 'x'.repeat(1_000_000);
    let made = 0;
    cache = function* () {
      for (made = 0; made < 1000; made += 1) yield piece;
    };
    const { port } = await start();
    const first = request({ host: '127.0.0.1', port, path: '/cache' });
    first.on('error', () => {});
    first.on('response', (response) => response.pause());
    first.end();
    // Pieces are made until the socket buffers are full.
    await expect.poll(() => made).toBeGreaterThan(0);
    expect(await get(port, '/cache')).toEqual([503, 'another client is reading it: try again\n']);
    expect(made).toBeLessThan(100);
    first.destroy();
    cache = () => ['{}'];
    await expect.poll(() => get(port, '/cache')).toEqual([200, '{}']);
  });
});
