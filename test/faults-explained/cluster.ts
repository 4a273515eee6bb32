/**
 * The objects of a cluster, well and with the faults that names can have; and what `kubectl get -o json` prints of them.
 */
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';

const named = (name: string, labels: Readonly<Record<string, string>> = {}) => ({
  name,
  namespace: 'shop',
  labels,
});
const PORTS = [{ name: 'http', port: 80, protocol: 'TCP' }];

function service(name: string, spec: object): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: named(name), spec: { ports: PORTS, ...spec } };
}

const makeExternalName = (target: string) => ({ type: 'ExternalName', externalName: target });

export const WELL: readonly KubernetesObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'web' } },
  service('cart', { clusterIP: '10.96.0.20', selector: { app: 'cart' } }),
];

/** An ExternalName that is an address. */
export const PAY = service('pay', makeExternalName('10.0.0.7'));

export const SICK: readonly KubernetesObject[] = [
  ...WELL,
  service('db', { clusterIP: 'None', selector: { app: 'db' } }),
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    ports: PORTS,
    metadata: named('db-1', { 'kubernetes.io/service-name': 'db' }),
    endpoints: [
      {
        addresses: ['10.244.0.7'],
        conditions: { ready: false },
        targetRef: { kind: 'Pod', name: 'db-0', namespace: 'shop' },
      },
    ],
  },
  service('search', { clusterIP: 'None', selector: { app: 'search' } }),
  PAY,
  service('ring', makeExternalName('gnir.shop.svc.cluster.local')),
  service('gnir', makeExternalName('ring.shop.svc.cluster.local')),
  pod('db-0', { app: 'db' }),
  pod('finder-0', { app: 'finder' }),
];

function pod(name: string, labels: Readonly<Record<string, string>>): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: named(name, labels),
    spec: {},
    status: { phase: 'Running' },
  };
}

/** What the caller may read of a cluster. @returns the path of the file */
export async function writeEvidence(objects: readonly KubernetesObject[]): Promise<string> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  return (await makeTemporaryFolder()).write('objects.json', JSON.stringify(list));
}
