import { afterEach, expect, it } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { RecordingLog } from '../../test/support/recording-log.ts';
import { type HealthAnswers, HealthServer, type Readiness } from './health.ts';

let readiness: Readiness = { ready: true };
let metrics = async () => 'a 1\n';
const answers: HealthAnswers = { readiness: () => readiness, metrics: () => metrics() };
const log = new RecordingLog();
const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function start(): Promise<HealthServer> {
  const options = { address: '127.0.0.1', port: 0, waitForPort: false };
  const server = new HealthServer(options, answers, new ManualClock(), log);
  cleanUps.push(() => server.stop());
  await server.start();
  return server;
}

async function get(server: HealthServer, path: string): Promise<readonly [number, string]> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  return [response.status, await response.text()];
}

it('says alive, ready and why not', async () => {
  const server = await start();
  readiness = { ready: true };
  expect(await get(server, '/healthz')).toEqual([200, 'ok\n']);
  expect(await get(server, '/readyz?verbose')).toEqual([200, 'ok\n']);
  readiness = { ready: false, reason: 'services: forbidden' };
  expect(await get(server, '/readiness')).toEqual([503, 'services: forbidden\n']);
  expect(await get(server, '/readyz')).toEqual([503, 'services: forbidden\n']);
  expect(await get(server, '/healthz')).toEqual([200, 'ok\n']);
});

it('gives metrics as they are now, or says that it could not', async () => {
  const server = await start();
  expect(await get(server, '/metrics')).toEqual([200, 'a 1\n']);
  metrics = () => Promise.reject(new Error('broken'));
  expect((await get(server, '/metrics'))[0]).toBe(500);
  expect(log.text).toContain('broken');
});
