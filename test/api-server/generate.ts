/**
 * Clusters of any size, the same each time, for benchmarks and scale tests.
 */
import type { KubernetesObject } from './object-store.ts';

export interface ClusterSize {
  readonly services: number;
  /** Per service; a slice holds up to 100, as the controller of Kubernetes makes them. */
  readonly endpointsPerService: number;
  /** Services are spread over so many namespaces; 10 unless told otherwise. */
  readonly namespaces?: number;
}

const SLICE_SIZE = 100;

export function* generateCluster(size: ClusterSize): Generator<KubernetesObject> {
  const namespaces = size.namespaces ?? 10;
  for (let index = 0; index < namespaces; index += 1) {
    yield { kind: 'Namespace', metadata: { name: `ns-${index}` }, status: { phase: 'Active' } };
  }
  for (let index = 0; index < size.services; index += 1) {
    const namespace = `ns-${index % namespaces}`;
    yield generateService(index, namespace);
    yield* generateSlices(index, namespace, size.endpointsPerService);
  }
}

function generateService(index: number, namespace: string): KubernetesObject {
  const clusterIP = address(0x0a60_0000 + 1 + index);
  const name = `svc-${index}`;
  return {
    kind: 'Service',
    metadata: { name, namespace, uid: uid(1, index), labels: { app: name } },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      selector: { app: name },
      sessionAffinity: 'None',
      ports: [
        { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 },
        { name: 'metrics', protocol: 'TCP', port: 9090, targetPort: 'metrics' },
      ],
    },
    status: { loadBalancer: {} },
  };
}

function* generateSlices(index: number, namespace: string, count: number): Generator<KubernetesObject> {
  for (let first = 0; first < count; first += SLICE_SIZE) {
    const length = Math.min(SLICE_SIZE, count - first);
    const addresses = Array.from({ length }, (_, offset) => podAddress(index, first + offset));
    yield makeSlice(index, namespace, first / SLICE_SIZE, addresses);
  }
}

/** The slice `part` of service `index` with these addresses, as the controller would write it. */
export function makeSlice(
  index: number,
  namespace: string,
  part: number,
  addresses: readonly string[],
): KubernetesObject {
  const labels = {
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    'kubernetes.io/service-name': `svc-${index}`,
  };
  return {
    kind: 'EndpointSlice',
    metadata: { name: `svc-${index}-${part}`, namespace, uid: uid(2, index * 100 + part), labels },
    addressType: 'IPv4',
    endpoints: addresses.map((podIP, offset) => ({
      addresses: [podIP],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: `node-${(index + offset) % 50}`,
      zone: 'zone-a',
      targetRef: { kind: 'Pod', namespace, name: `svc-${index}-${offset}`, uid: uid(3, offset) },
    })),
    ports: [
      { name: 'http', protocol: 'TCP', port: 8080 },
      { name: 'metrics', protocol: 'TCP', port: 9090 },
    ],
  };
}

export function podAddress(service: number, endpoint: number): string {
  return address(0x0b00_0000 + ((service * 1_000 + endpoint) % 0x00ff_fffe) + 1);
}

function address(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
}

function uid(group: number, index: number): string {
  return `${String(group).padStart(8, '0')}-0000-4000-8000-${String(index).padStart(12, '0')}`;
}
