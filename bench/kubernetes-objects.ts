/**
 * The cluster as objects of the API server, with all the fields of real objects: skipping those is part of the work.
 */
import type { KubernetesObject } from '../test/api-server/object-store.ts';
import { type Cluster, type ClusterService, type Endpoint, isHeadless, PORT } from './cluster.ts';

export function* makeObjects(cluster: Cluster): Generator<KubernetesObject> {
  for (const name of ['default', 'kube-system', ...cluster.namespaces]) yield namespaceObject(name);
  for (const service of cluster.services) {
    yield serviceObject(service);
    yield sliceObject(service, service.endpoints);
  }
  const [namespace = 'default'] = cluster.namespaces;
  for (const address of cluster.pods) yield podObject(namespace, address);
}

function podObject(namespace: string, podIP: string): KubernetesObject {
  const name = `pod-${podIP}`;
  return {
    kind: 'Pod',
    metadata: { name, namespace, uid: uid(`${namespace}/${name}`) },
    spec: { dnsPolicy: 'ClusterFirst' },
    status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }] },
  };
}

function namespaceObject(name: string): KubernetesObject {
  return {
    kind: 'Namespace',
    metadata: { name, uid: uid(name), labels: { 'kubernetes.io/metadata.name': name } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}

export function serviceObject(service: ClusterService): KubernetesObject {
  const { name, namespace, addresses } = service;
  const clusterIPs = isHeadless(service) ? ['None'] : addresses;
  return {
    kind: 'Service',
    metadata: {
      name,
      namespace,
      uid: uid(`${namespace}/${name}`),
      labels: makeLabels(name),
      annotations: { 'meta.helm.sh/release-name': name, 'meta.helm.sh/release-namespace': namespace },
      managedFields: managedFields(['f:ports', 'f:selector', 'f:type', 'f:sessionAffinity']),
    },
    spec: {
      ports: [{ name: PORT.name, protocol: 'TCP', port: PORT.number, targetPort: 8080 }],
      selector: { 'app.kubernetes.io/name': name },
      clusterIP: clusterIPs[0],
      clusterIPs,
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: clusterIPs.length > 1 ? ['IPv4', 'IPv6'] : ['IPv4'],
      ipFamilyPolicy: clusterIPs.length > 1 ? 'PreferDualStack' : 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    },
    status: { loadBalancer: {} },
  };
}

/** @param suffix of the name of the slice */
export function sliceObject(
  service: ClusterService,
  endpoints: readonly Endpoint[],
  suffix = 'x7k2p',
): KubernetesObject {
  const { name, namespace } = service;
  return {
    kind: 'EndpointSlice',
    metadata: {
      name: `${name}-${suffix}`,
      namespace,
      uid: uid(`${namespace}/${name}/slice`),
      generateName: `${name}-`,
      labels: {
        ...makeLabels(name),
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        'kubernetes.io/service-name': name,
      },
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Service',
          name,
          uid: uid(`${namespace}/${name}`),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFields(['f:addressType', 'f:endpoints', 'f:ports']),
    },
    addressType: 'IPv4',
    endpoints: endpoints.map((endpoint, index) => endpointField(service, endpoint, index)),
    ports: [{ name: PORT.name, protocol: 'TCP', port: 8080 }],
  };
}

function endpointField(service: ClusterService, { hostname, address }: Endpoint, index: number) {
  return {
    addresses: [address],
    conditions: { ready: true, serving: true, terminating: false },
    ...(isHeadless(service) ? { hostname } : {}),
    nodeName: `node-${index % 50}`,
    targetRef: { kind: 'Pod', namespace: service.namespace, name: hostname, uid: uid(hostname) },
    zone: `zone-${index % 3}`,
  };
}

function makeLabels(name: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/instance': name,
    'app.kubernetes.io/managed-by': 'Helm',
    'helm.sh/chart': `${name}-1.4.2`,
  };
}

function managedFields(fields: readonly string[]): readonly object[] {
  const spec = Object.fromEntries(fields.map((field) => [field, {}]));
  return [
    {
      manager: 'kube-controller-manager',
      operation: 'Update',
      apiVersion: 'v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:app.kubernetes.io/name': {} } }, 'f:spec': spec },
    },
  ];
}

/** Of the form of a UUID, and the same in every run. */
function uid(text: string): string {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  const digits = hash.toString(16).padStart(8, '0');
  return `${digits}-${digits.slice(0, 4)}-4${digits.slice(1, 4)}-8${digits.slice(2, 5)}-${digits}${digits.slice(4)}`;
}
