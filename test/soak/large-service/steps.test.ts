/**
 * A change of one slice of a service with 5,000 endpoints is processed in steps of about a millisecond. It costs the processing of
 * that slice and a check of each other one. The test counts work instead of time, so a too large step fails on any machine.
 */
import { expect, it, onTestFinished, vi } from 'vitest';
import { WorkCounter } from '../../../src/base/testing/work-counter.ts';
import type { EndpointsObject, ServiceObject } from '../../../src/kube/objects/objects.ts';
import { AskableCluster, question } from '../../../src/plugins/kubernetes/testing/askable-cluster.ts';
import { TYPE } from '../../../src/wire/types.ts';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
const SLICES = 50;
/** What Kubernetes puts into one. */
const ENDPOINTS = 100;
/** Blocks of code entered: in a step, and in a change for each endpoint of the service. The most that was seen: 8,027, and 32. */
const MAX_WORK = 25_000;
const MAX_WORK_PER_ENDPOINT = 60;

const service = (kind: 'headless' | 'clusterIPs'): ServiceObject => ({
  ...{ kind: 'Service', namespace: 'blue', name: 'web', ports: PORTS },
  address: kind === 'headless' ? { kind } : { kind, addresses: ['10.96.0.1'] },
});

const slice = (number: number, size: number, hostname?: (index: number) => string): EndpointsObject => ({
  ...{ kind: 'Endpoints', namespace: 'blue', name: `web-${number}`, service: 'web' },
  groups: [
    {
      addresses: Array.from({ length: size }, (_, index) => ({
        address: `10.2.${number}.${index}`,
        hostname: hostname?.(number * ENDPOINTS + index),
      })),
      ports: PORTS,
    },
  ],
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Time passes with each look at the clock, so that a turn of the event loop is a step. */
function makeImpatient({ clock }: AskableCluster): void {
  let now = clock.monotonic() + 1_000;
  vi.spyOn(clock, 'monotonic').mockImplementation(() => {
    now += 5;
    return now;
  });
}

it.each([
  ['coredns', 'headless', undefined],
  ['coredns', 'clusterIPs', undefined],
  ['coredns', 'headless', (index: number) => `db-${index}`],
  ['kube-dns', 'headless', undefined],
  ['kube-dns', 'headless', (index: number) => `db-${index}`],
] as const)(
  '%s, %s: no step does more than a small part of a change',
  { timeout: 60_000 },
  async (...row) => {
    const [dialect, kind, hostname] = row;
    const cluster = new AskableCluster(dialect);
    const slices = Array.from({ length: SLICES }, (_, number) => slice(number, ENDPOINTS, hostname));
    cluster.list([service(kind), ...slices]);
    makeImpatient(cluster);
    const counter = new WorkCounter();
    onTestFinished(() => counter.stop());
    for (const size of [ENDPOINTS - 1, ENDPOINTS]) {
      counter.take();
      cluster.upsert(slice(3, size, hostname));
      const steps = [counter.take()];
      while (cluster.cluster.state().waiting > 0) {
        await turn();
        steps.push(counter.take());
      }
      expect(steps.length).toBeGreaterThan(1);
      expect(Math.max(...steps)).toBeLessThan(MAX_WORK);
      const total = steps.reduce((sum, work) => sum + work, 0);
      expect(total).toBeLessThan(MAX_WORK_PER_ENDPOINT * SLICES * ENDPOINTS);
    }
    counter.take();
    // The table asks for names two labels below a service with ports.
    await cluster.askChain(question('a.b.web.blue.svc.cluster.local.', TYPE.A));
    expect(counter.take()).toBeLessThan(MAX_WORK);
  },
);
