/**
 * A change of one slice costs the processing of that slice, however many endpoints its service has. The test counts work instead
 * of time, so it fails on any machine.
 */
import { expect, it } from 'vitest';
import { WorkCounter } from '../../../src/base/testing/work-counter.ts';
import type { EndpointsObject, ServiceObject } from '../../../src/kube/objects/objects.ts';
import { AskableCluster, question } from '../../../src/plugins/kubernetes/testing/askable-cluster.ts';
import { TYPE } from '../../../src/wire/types.ts';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
/** What Kubernetes puts into one. */
const ENDPOINTS = 100;
/** Blocks of code entered for a change of one slice. The most that was seen: 8,249 for two changes. */
const MAX_WORK = 10_000;

const service = (kind: 'headless' | 'clusterIPs'): ServiceObject => ({
  ...{ kind: 'Service', namespace: 'blue', name: 'web', ports: PORTS },
  address: kind === 'headless' ? { kind } : { kind, addresses: ['10.96.0.1'] },
});

const slice = (number: number, size: number): EndpointsObject => ({
  ...{ kind: 'Endpoints', namespace: 'blue', name: `web-${number}`, service: 'web' },
  groups: [
    {
      addresses: Array.from({ length: size }, (_, index) => ({
        address: `10.2.${number}.${index}`,
        hostname: undefined,
      })),
      ports: PORTS,
    },
  ],
});

/** The work for one endpoint more and one less in a service of so many slices. */
function workOf(dialect: 'coredns' | 'kube-dns', kind: 'headless' | 'clusterIPs', slices: number): number {
  const cluster = new AskableCluster(dialect);
  cluster.list([
    service(kind),
    ...Array.from({ length: slices }, (_, number) => slice(number, number === 3 ? ENDPOINTS - 1 : ENDPOINTS)),
  ]);
  const counter = new WorkCounter();
  try {
    counter.take();
    cluster.upsert(slice(3, ENDPOINTS));
    cluster.upsert(slice(3, ENDPOINTS - 1));
    cluster.cluster.settle();
    return counter.take();
  } finally {
    counter.stop();
  }
}

it.each([
  ['coredns', 'headless'],
  ['coredns', 'clusterIPs'],
  ['kube-dns', 'headless'],
] as const)('%s, %s: a change costs the same in a small service and in a large one', (dialect, kind) => {
  const [small, large] = [workOf(dialect, kind, 5), workOf(dialect, kind, 100)];
  expect(large).toBeLessThan(2 * MAX_WORK);
  expect(large).toBeLessThan(2 * small);
});

it('a service of 10,000 endpoints answers with all of them in turn where an answer is cut', () => {
  const cluster = new AskableCluster('coredns');
  cluster.list([
    service('headless'),
    { kind: 'Namespace', name: 'blue' },
    ...Array.from({ length: 100 }, (_, number) => slice(number, ENDPOINTS)),
  ]);
  const seen = new Set<string>();
  for (let turn = 0; turn < 200; turn += 1) {
    const message = cluster.askTable(question('web.blue.svc.cluster.local.', TYPE.A));
    for (const { data } of message?.answers ?? []) if (data.kind === 'A') seen.add(data.address);
  }
  expect(seen.size).toBe(100 * ENDPOINTS);
});
