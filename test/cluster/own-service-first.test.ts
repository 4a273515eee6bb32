/**
 * The names of an address that several services claim: the service that selects the pod comes before those that merely list
 * its address.
 */
import { TYPE } from '@portolan/dns/types.ts';
import type { EndpointsObject, ServiceObject } from '@portolan/kubernetes/objects/objects.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
const POINTER = question('1.0.244.10.in-addr.arpa.', TYPE.PTR);
const OWN = 'db-0.web.shop.svc.cluster.local.';

const service = (namespace: string, name: string, selects: boolean): ServiceObject => ({
  kind: 'Service',
  namespace,
  name,
  selects,
  ports: PORTS,
  address: { kind: 'headless' },
});

const slice = (namespace: string, of: string): EndpointsObject => ({
  kind: 'Endpoints',
  namespace,
  name: of,
  service: of,
  groups: [{ addresses: [{ address: '10.244.0.1', hostname: 'db-0' }], ports: PORTS }],
});

const THIEVES = Array.from({ length: 100 }, (_, index) => `thief-${index}`);

/** A cluster in which services without selector claim the address of a pod. */
function crowded(dialect: 'coredns' | 'kube-dns', thieves: readonly string[]): AskableCluster {
  const cluster = new AskableCluster(dialect);
  cluster.list(thieves.flatMap((name) => [service('evil', name, false), slice('evil', name)]));
  return cluster;
}

/** The first name that the table gives for the address. */
function firstInTable(cluster: AskableCluster): string | undefined {
  const [first] = cluster.askTable(POINTER)?.answers ?? [];
  return first?.data.kind === 'PTR' ? String(first.data.target) : undefined;
}

async function pointers(cluster: AskableCluster): Promise<readonly (readonly string[])[]> {
  return [cluster.askTable(POINTER), await cluster.askChain(POINTER)].map((message) =>
    (message?.answers ?? []).flatMap(({ data }) => (data.kind === 'PTR' ? [String(data.target)] : [])),
  );
}

describe.each(['coredns', 'kube-dns'] as const)('%s: an address that others claim', (dialect) => {
  it.each([1, 3, 100])('has the name of its own service first, beside %i others', async (count) => {
    const cluster = crowded(dialect, THIEVES.slice(0, count));
    cluster.cluster.endpoints.upsert(slice('shop', 'web'));
    cluster.cluster.services.upsert(service('shop', 'web', true));
    for (const names of await pointers(cluster)) {
      expect(names[0]).toBe(OWN);
      expect(names).toHaveLength(Math.min(64, count + 1));
    }
  });

  it('has it first when the service comes before its endpoints', async () => {
    const cluster = crowded(dialect, THIEVES);
    cluster.cluster.services.upsert(service('shop', 'web', true));
    cluster.cluster.endpoints.upsert(slice('shop', 'web'));
    for (const names of await pointers(cluster)) expect(names[0]).toBe(OWN);
  });

  it('has it first although services go, and not once it has no selector', async () => {
    const cluster = crowded(dialect, THIEVES);
    cluster.cluster.services.upsert(service('shop', 'web', true));
    cluster.cluster.endpoints.upsert(slice('shop', 'web'));
    for (const name of THIEVES.slice(0, 50)) {
      cluster.cluster.endpoints.remove(`evil/${name}`);
      expect(firstInTable(cluster)).toBe(OWN);
    }
    cluster.cluster.services.upsert(service('shop', 'web', false));
    cluster.cluster.services.upsert(service('evil', 'thief-99', true));
    expect(firstInTable(cluster)).toBe('db-0.thief-99.evil.svc.cluster.local.');
    cluster.cluster.services.upsert(service('shop', 'web', true));
    cluster.cluster.services.remove('shop/web');
    for (const names of await pointers(cluster)) expect(names).toHaveLength(50);
  });

  it('has the services that select before the others, however they come and go', () => {
    const step = fc.record({ index: fc.nat(99), isThere: fc.boolean(), selects: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 150, maxLength: 400 }), (steps) => {
        const cluster = crowded(dialect, THIEVES);
        const selecting = new Set<string>();
        for (const { index, isThere, selects } of steps) {
          const name = `thief-${index}`;
          if (isThere) {
            cluster.cluster.services.upsert(service('evil', name, selects));
            cluster.cluster.endpoints.upsert(slice('evil', name));
          } else cluster.cluster.endpoints.remove(`evil/${name}`);
          if (isThere && selects) selecting.add(`db-0.${name}.evil.svc.cluster.local.`);
          else selecting.delete(`db-0.${name}.evil.svc.cluster.local.`);
        }
        const names = (cluster.askTable(POINTER)?.answers ?? []).flatMap(({ data }) =>
          data.kind === 'PTR' ? [String(data.target)] : [],
        );
        const first = names.slice(0, selecting.size);
        expect(first.filter((name) => !selecting.has(name))).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });
});
