/**
 * The time until a change of a headless service's endpoints arrives here. It starts at the moment that the endpoints controller
 * notes on the object, so it depends on both clocks.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { EndpointsObject, ObjectSink } from '../../objects/objects.ts';

export interface ProgrammingLatencyDependencies {
  readonly metrics: MetricRegistry;
  readonly clock: Clock;
  readonly isHeadless: (namespace: string, service: string) => boolean;
}

/** Seconds: 1 ms to 17 minutes. */
const BUCKETS = Array.from({ length: 20 }, (_, power) => 0.001 * 2 ** power);

/** @returns a sink that passes on all changes */
export function observeChanges(
  sink: ObjectSink<EndpointsObject>,
  { metrics, clock, isHeadless }: ProgrammingLatencyDependencies,
): ObjectSink<EndpointsObject> {
  const durations = metrics.histogram(
    'coredns_kubernetes_dns_programming_duration_seconds',
    'Histogram of the time (in seconds) it took to program a dns instance.',
    BUCKETS,
  );
  let isListing = false;
  return {
    ...(sink.takesDrafts === true ? { takesDrafts: true } : {}),
    listStarted() {
      isListing = true;
      sink.listStarted();
    },
    listCompleted() {
      isListing = false;
      sink.listCompleted();
    },
    upsert(object) {
      sink.upsert(object);
      const { changeTime, namespace, service } = object;
      // A listed object may have changed long ago.
      if (isListing || changeTime === undefined || !isHeadless(namespace, service)) return;
      const seconds = Math.max(0, clock.now() - Date.parse(changeTime)) / 1000;
      if (!Number.isNaN(seconds)) durations.observe({ service_kind: 'headless_with_selector' }, seconds);
    },
    remove: (key) => sink.remove(key),
    count: () => sink.count(),
  };
}
