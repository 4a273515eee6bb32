/**
 * Objects as users and controllers of Kubernetes write them.
 */
import type { KubernetesObject } from '../api-server/object-store.ts';

export interface Port {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: 'TCP' | 'UDP';
}

export interface Endpoint {
  readonly address: string;
  readonly hostname?: string;
  readonly ready?: boolean;
}

export function namespaceObject(name: string): KubernetesObject {
  return { kind: 'Namespace', apiVersion: 'v1', metadata: { name } };
}

/** Without a selector, so that no controller writes endpoints for it. */
export function serviceObject(
  namespace: string,
  name: string,
  spec: Readonly<Record<string, unknown>> & { readonly ports?: readonly Port[] },
): KubernetesObject {
  return { kind: 'Service', apiVersion: 'v1', metadata: { name, namespace }, spec };
}

/**
 * A service's endpoints in both forms: a slice per family, and Endpoints for those who read these. The label keeps a real
 * cluster from making more slices out of the Endpoints.
 */
export function endpointObjects(
  namespace: string,
  service: string,
  endpoints: readonly Endpoint[],
  ports: readonly Port[],
): readonly KubernetesObject[] {
  const families = (['IPv4', 'IPv6'] as const).map((family) => {
    const ofFamily = endpoints.filter(({ address }) => address.includes(':') === (family === 'IPv6'));
    return sliceObject(namespace, service, family, ofFamily, ports);
  });
  return [...families, endpointsObject(namespace, service, endpoints, ports)];
}

function sliceObject(
  namespace: string,
  service: string,
  family: 'IPv4' | 'IPv6',
  endpoints: readonly Endpoint[],
  ports: readonly Port[],
): KubernetesObject {
  const labels = {
    'kubernetes.io/service-name': service,
    'endpointslice.kubernetes.io/managed-by': 'portolan-test',
  };
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name: `${service}-${family.toLowerCase()}`, namespace, labels },
    addressType: family,
    endpoints: endpoints.map(({ address, hostname, ready = true }) => ({
      addresses: [address],
      conditions: { ready },
      ...(hostname === undefined ? {} : { hostname }),
    })),
    ports: ports.map(toEndpointPort),
  };
}

function endpointsObject(
  namespace: string,
  service: string,
  endpoints: readonly Endpoint[],
  ports: readonly Port[],
): KubernetesObject {
  const pick = (wanted: boolean) =>
    endpoints
      .filter(({ ready = true }) => ready === wanted)
      .map(({ address, hostname }) => ({ ip: address, ...(hostname === undefined ? {} : { hostname }) }));
  const labels = { 'endpointslice.kubernetes.io/skip-mirror': 'true' };
  return {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { name: service, namespace, labels },
    subsets: [{ addresses: pick(true), notReadyAddresses: pick(false), ports: ports.map(toEndpointPort) }],
  };
}

function toEndpointPort({ name, port, protocol = 'TCP' }: Port): Record<string, unknown> {
  return { port, protocol, ...(name === undefined ? {} : { name }) };
}
