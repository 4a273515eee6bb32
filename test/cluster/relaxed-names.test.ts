/**
 * Services whose names begin with a digit (RelaxedServiceNameValidation, Kubernetes 1.34 and later), in every role with a cluster.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { CLUSTER_ROLES, startClusterRole } from '../support/roles.ts';

afterEach(endAllPrograms);

const PORTS = [{ name: '3http', port: 80, protocol: 'TCP' }];
const OBJECTS: readonly KubernetesObject[] = [
  { kind: 'Namespace', metadata: { name: '1shop' } },
  {
    kind: 'Service',
    metadata: { name: '2cart', namespace: '1shop' },
    spec: { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1'], ports: PORTS },
  },
  // Like the name of a pod by its address.
  {
    kind: 'Service',
    metadata: { name: '10-244-1-1', namespace: '1shop' },
    spec: { clusterIP: '10.96.0.2', clusterIPs: ['10.96.0.2'], ports: PORTS },
  },
  {
    kind: 'Service',
    metadata: { name: '4', namespace: '1shop' },
    spec: { clusterIP: 'None', ports: PORTS },
  },
  {
    kind: 'EndpointSlice',
    metadata: { name: '4-a', namespace: '1shop', labels: { 'kubernetes.io/service-name': '4' } },
    addressType: 'IPv4',
    ports: PORTS,
    endpoints: [{ addresses: ['10.244.1.1'], hostname: '0', conditions: { ready: true } }],
  },
];

const ANSWERS = [
  ['2cart.1shop.svc.cluster.local', 'A', '10.96.0.1'],
  ['10-244-1-1.1shop.svc.cluster.local', 'A', '10.96.0.2'],
  ['4.1shop.svc.cluster.local', 'A', '10.244.1.1'],
  ['0.4.1shop.svc.cluster.local', 'A', '10.244.1.1'],
  ['_3http._tcp.4.1shop.svc.cluster.local', 'SRV', '0.4.1shop.svc.cluster.local.'],
  ['1.0.96.10.in-addr.arpa', 'PTR', '2cart.1shop.svc.cluster.local.'],
  ['1.1.244.10.in-addr.arpa', 'PTR', '0.4.1shop.svc.cluster.local.'],
] as const;

describe('names of services that begin with a digit', () => {
  it.each(CLUSTER_ROLES.filter((role) => role !== 'node-cache'))(
    'are answered by %s over UDP and TCP',
    async (role) => {
      const double = await ApiServerDouble.start({ objects: OBJECTS });
      onTestFinished(() => double.stop());
      const server = await startClusterRole(role, { upstream: 1, api: double.url });
      const answer = async (name: string, type: 'A' | 'SRV' | 'PTR', transport: 'udp' | 'tcp') => {
        const { answers } = await ask(server, name, type, { transport });
        return answers.map((record) => presentRecord(record).split(' ').at(-1));
      };
      for (const [name, type, expected] of ANSWERS) {
        // It may still list the cluster.
        await vi.waitFor(async () => expect(await answer(name, type, 'udp')).toEqual([expected]), 30_000);
        expect(await answer(name, type, 'tcp')).toEqual([expected]);
      }
    },
  );
});
