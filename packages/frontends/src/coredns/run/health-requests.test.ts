import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { expect, it } from 'vitest';
import { HealthRequests } from './health-requests.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('asks for health once a second, counts how long it takes, and tells when that is too long', async () => {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const metrics = new MetricRegistry();
  const takes = [2, 1500, 'connection refused'];
  const asked: string[] = [];
  const request = async (address: string) => {
    asked.push(address);
    const next = takes.shift();
    // The clock does not advance while its timers run.
    await Promise.resolve();
    if (typeof next === 'number') clock.advance(next);
    else throw new Error(next);
  };
  const requests = new HealthRequests({ metrics, clock, log, request });
  requests.follow([':8080']);
  for (let second = 0; second < 3; second += 1) {
    clock.advance(1000);
    await settled();
  }
  expect(asked).toEqual([':8080', ':8080', ':8080']);
  const lines = (await metrics.render()).split('\n');
  expect(lines).toContain('coredns_health_request_duration_seconds_bucket{le="0.0025"} 2');
  expect(lines).toContain('coredns_health_request_duration_seconds_bucket{le="2.5"} 3');
  expect(lines).toContain('coredns_health_request_failures_total 1');
  expect(log.records.map(({ message }) => message)).toEqual([
    'plugin/health: Local health request to "http://:8080/health" took more than 1s: 1.5s',
    'plugin/health: Local health request to "http://:8080/health" failed: connection refused',
  ]);
});

it('asks no address that health has left', async () => {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const metrics = new MetricRegistry();
  const asked: string[] = [];
  const request = async (address: string) => void asked.push(address);
  const requests = new HealthRequests({ metrics, clock, log, request });
  requests.follow([':8080']);
  requests.follow(['127.0.0.1:8081']);
  clock.advance(1000);
  await settled();
  requests.follow([]);
  clock.advance(5000);
  await settled();
  expect(asked).toEqual(['127.0.0.1:8081']);
});
