/**
 * The cluster of all benchmarks: with the requested number of services and endpoints, the same in every run.
 *
 * One service in ten is headless, its endpoints named as those of a StatefulSet. Every other service has IPv6 too, so that
 * half of the questions for AAAA are answered with an address and half with NODATA.
 */
export const ZONE = 'cluster.local';

export interface ClusterShape {
  readonly services: number;
  /** In the whole cluster, spread evenly over the services. */
  readonly endpoints: number;
  /** Endpoints of one more service, which is headless. */
  readonly ofLargeService?: number;
  /** Addresses of pods in the first namespace that are no endpoints. Default: none. */
  readonly pods?: readonly string[];
}

export interface Endpoint {
  readonly hostname: string;
  readonly address: string;
}

export interface ClusterService {
  readonly namespace: string;
  readonly name: string;
  /** IPv4, then IPv6 if there is one. None: the service is headless. */
  readonly addresses: readonly string[];
  readonly endpoints: readonly Endpoint[];
}

export interface Cluster {
  readonly namespaces: readonly string[];
  readonly services: readonly ClusterService[];
  /** Addresses of further pods in the first namespace. */
  readonly pods: readonly string[];
}

/** The one port that every service has. */
export const PORT = { name: 'http', number: 80 } as const;

const SERVICES_PER_NAMESPACE = 100;
const HEADLESS_ONE_IN = 10;

export function describeCluster(shape: ClusterShape): Cluster {
  const count = Math.max(1, Math.ceil(shape.services / SERVICES_PER_NAMESPACE));
  const namespaces = Array.from({ length: count }, (_, index) => `team-${index}`);
  const services = Array.from({ length: shape.services }, (_, index) =>
    describeService(shape, index, namespaces[index % count] ?? 'default'),
  );
  return { namespaces, services, pods: shape.pods ?? [] };
}

function describeService(shape: ClusterShape, index: number, namespace: string): ClusterService {
  const name = `service-${index}`;
  const headless = index % HEADLESS_ONE_IN === HEADLESS_ONE_IN - 1;
  const first = Math.floor((index * shape.endpoints) / shape.services);
  const end = Math.floor(((index + 1) * shape.endpoints) / shape.services);
  const endpoints = Array.from({ length: end - first }, (_, offset) => ({
    hostname: `${name}-${offset}`,
    address: podAddress(first + offset),
  }));
  return { namespace, name, addresses: headless ? [] : clusterAddresses(index), endpoints };
}

function clusterAddresses(index: number): readonly string[] {
  const number = index + 10;
  const ipv4 = `10.${96 + (number >>> 16)}.${(number >>> 8) & 0xff}.${number & 0xff}`;
  return index % 2 === 0 ? [ipv4, `fd00:10:96::${number.toString(16)}`] : [ipv4];
}

/** @param number below 8 million */
export function podAddress(number: number): string {
  return `10.${128 + (number >>> 16)}.${(number >>> 8) & 0xff}.${number & 0xff}`;
}

export function isHeadless(service: ClusterService): boolean {
  return service.addresses.length === 0;
}

/** What Kubernetes puts into one slice. */
const ENDPOINTS_OF_SLICE = 100;

/** A headless service of many slices. */
export const LARGE_SERVICE = { namespace: 'default', name: 'large', addresses: [], endpoints: [] } as const;

/** The endpoints of a slice of the large service, the last one of which is another each time. */
export function largeSlice(slice: number, change: number): readonly Endpoint[] {
  return Array.from({ length: ENDPOINTS_OF_SLICE }, (_, index) => {
    const isLast = index === ENDPOINTS_OF_SLICE - 1;
    const number = isLast ? 2_000_000 + change : 1_000_000 + slice * ENDPOINTS_OF_SLICE + index;
    return { hostname: `large-${slice}-${index}`, address: podAddress(number) };
  });
}

export function countSlices({ ofLargeService = 0 }: ClusterShape): number {
  return ofLargeService / ENDPOINTS_OF_SLICE;
}

/** Absolute, without the last dot. */
export function toServiceName(service: Pick<ClusterService, 'name' | 'namespace'>): string {
  return `${service.name}.${service.namespace}.svc.${ZONE}`;
}
