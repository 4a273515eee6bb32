import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it } from 'vitest';
import type { EndpointsObject } from '../../objects/objects.ts';
import { observeChanges } from './programming-latency.ts';

it('counts the age of changes to headless services that arrive by a watch', async () => {
  const clock = new ManualClock();
  const metrics = new MetricRegistry();
  const taken: EndpointsObject[] = [];
  const sink = observeChanges(
    {
      listStarted() {},
      listCompleted() {},
      upsert: (object) => void taken.push(object),
      remove() {},
      count: () => taken.length,
    },
    { metrics, clock, isHeadless: (_, service) => service === 'db' },
  );
  const object: EndpointsObject = {
    kind: 'Endpoints',
    namespace: 'a',
    name: 'x',
    service: 'db',
    groups: [],
    changeTime: new Date(clock.now() - 300).toISOString(),
  };
  sink.listStarted();
  sink.upsert(object);
  sink.listCompleted();
  sink.upsert(object);
  sink.upsert({ ...object, service: 'web' });
  sink.upsert({ ...object, changeTime: undefined });
  sink.upsert({ ...object, changeTime: 'yesterday' });
  const lines = (await metrics.render()).split('\n');
  const family = 'coredns_kubernetes_dns_programming_duration_seconds';
  expect(lines).toContain(`${family}_count{service_kind="headless_with_selector"} 1`);
  expect(lines).toContain(`${family}_bucket{le="0.256",service_kind="headless_with_selector"} 0`);
  expect(lines).toContain(`${family}_bucket{le="0.512",service_kind="headless_with_selector"} 1`);
  expect(taken).toHaveLength(5);
});
