/**
 * A change of one slice, and an answer for one endpoint, cost the same however many endpoints their service has. The test counts
 * work instead of time, so it fails on any machine.
 */
import { TYPE } from '@portolan/dns/types.ts';
import { WorkCounter } from '@portolan/kernel/base/testing/work-counter.ts';
import type { ClusterObject, EndpointsObject, ServiceObject } from '@portolan/kubernetes/objects/objects.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import { describe, expect, it } from 'vitest';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
/** What Kubernetes puts into one. */
const ENDPOINTS = 100;
/** Blocks of code entered for a change of one slice. Two changes took 16,000 to 35,000, by the random keys of the table's hash. */
const MAX_WORK = 16_000;
/** Tables with keys of their own; the least work counts, since others probe longer by chance. */
const TABLES = 5;

const service = (kind: 'headless' | 'clusterIPs'): ServiceObject => ({
  kind: 'Service',
  namespace: 'blue',
  name: 'web',
  ports: PORTS,
  address: kind === 'headless' ? { kind } : { kind, addresses: ['10.96.0.1'] },
});

const slice = (number: number, size: number, hasHostnames = false): EndpointsObject => ({
  kind: 'Endpoints',
  namespace: 'blue',
  name: `web-${number}`,
  service: 'web',
  groups: [
    {
      addresses: Array.from({ length: size }, (_, index) => ({
        address: `10.2.${number}.${index}`,
        hostname: hasHostnames ? `web-${number}-${index}` : undefined,
      })),
      ports: PORTS,
    },
  ],
});

/** Blocks of code that are entered meanwhile. */
function countWork(run: () => void): number {
  const counter = new WorkCounter();
  try {
    counter.take();
    run();
    return counter.take();
  } finally {
    counter.stop();
  }
}

interface Shape {
  readonly dialect: 'coredns' | 'kube-dns';
  readonly kind: 'headless' | 'clusterIPs';
  readonly hasHostnames: boolean;
}

/** The least work of several tables for one endpoint more and one less in a service of so many slices. */
function leastWorkOfChange(shape: Shape, slices: number): number {
  return Math.min(...Array.from({ length: TABLES }, () => workOfChange(shape, slices)));
}

function workOfChange({ dialect, kind, hasHostnames }: Shape, slices: number): number {
  const cluster = new AskableCluster(dialect);
  cluster.list([
    service(kind),
    ...Array.from({ length: slices }, (_, number) =>
      slice(number, number === 3 ? ENDPOINTS - 1 : ENDPOINTS, hasHostnames),
    ),
  ]);
  return countWork(() => {
    cluster.upsert(slice(3, ENDPOINTS, hasHostnames));
    cluster.upsert(slice(3, ENDPOINTS - 1, hasHostnames));
    cluster.cluster.settle();
  });
}

it.each([
  { dialect: 'coredns', kind: 'headless', hasHostnames: false },
  { dialect: 'coredns', kind: 'headless', hasHostnames: true },
  { dialect: 'coredns', kind: 'clusterIPs', hasHostnames: false },
  { dialect: 'kube-dns', kind: 'headless', hasHostnames: false },
] as const)('a change costs the same in a small service and in a large one: %j', (shape) => {
  const small = leastWorkOfChange(shape, 5);
  const large = leastWorkOfChange(shape, 100);
  expect(large).toBeLessThan(2 * MAX_WORK);
  expect(large).toBeLessThan(2 * small);
});

describe.each(['coredns', 'kube-dns'] as const)(
  '%s: an answer from a service of 10,000 endpoints',
  (dialect) => {
    // kube-dns has pointers only to hostnames.
    const hasHostnames = dialect === 'kube-dns';
    const label = hasHostnames ? 'web-4-99' : '10-2-4-99';
    const others = Array.from({ length: 3 }, (_, index) => `other-${index}`);

    /** A cluster with a service of so many slices; other services claim one of its addresses. */
    function makeCluster(slices: number): AskableCluster {
      const cluster = new AskableCluster(dialect);
      const claims = others.flatMap((name): readonly ClusterObject[] => [
        { ...service('headless'), name },
        { ...slice(3, 1, hasHostnames), name, service: name },
      ]);
      const own = Array.from({ length: slices }, (_, number) => slice(number, ENDPOINTS, hasHostnames));
      cluster.list([service('headless'), { kind: 'Namespace', name: 'blue' }, ...own, ...claims]);
      return cluster;
    }
    const small = makeCluster(5);
    const large = makeCluster(100);

    it.each([
      [`${label}.web.blue.svc.cluster.local.`, TYPE.A],
      [`${label}.web.blue.svc.cluster.local.`, TYPE.SRV],
      ['missing.web.blue.svc.cluster.local.', TYPE.A],
      ['99.4.2.10.in-addr.arpa.', TYPE.PTR],
      ['0.3.2.10.in-addr.arpa.', TYPE.PTR],
    ])('costs what one of a small service costs: %s %i', (name, type) => {
      // The first answer of a kind also makes what later ones use.
      for (const cluster of [small, large]) cluster.askTable(question(name, type));
      const [less, more] = [small, large].map((cluster) =>
        countWork(() => expect(cluster.askTable(question(name, type))).toBeDefined()),
      );
      expect(more).toBeLessThan(1.3 * (less ?? 0));
    });
  },
);

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
