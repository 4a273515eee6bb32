/**
 * Evidence from a list of services, for tests.
 */
import type { ClusterEvidence, ClusterZoneEvidence, ServiceEvidence } from '../cluster-evidence.ts';

export const NO_ENDPOINTS: ServiceEvidence['endpoints'] = { ready: [], notReady: [], terminating: [] };

/** A service with the address 10.96.0.1 and the port `http`, unless told. @param name `service.namespace` */
export function makeService(name: string, changes: Partial<ServiceEvidence> = {}): ServiceEvidence {
  const [service = '', namespace = ''] = name.split('.');
  return {
    namespace,
    name: service,
    address: { kind: 'clusterIPs', addresses: ['10.96.0.1'] },
    ports: [{ name: 'http', protocol: 'tcp', port: 80 }],
    selector: undefined,
    selectedPods: undefined,
    endpoints: NO_ENDPOINTS,
    ...changes,
  };
}

export function makeEvidence(
  services: readonly ServiceEvidence[],
  namespaces: readonly string[] = [],
): ClusterEvidence {
  const spaces = new Set([...namespaces, ...services.map(({ namespace }) => namespace)]);
  return {
    hasNamespace: (namespace) => spaces.has(namespace),
    findService: (namespace, name) =>
      services.find((service) => service.namespace === namespace && service.name === name),
    services: () => services,
    namespaces: () => spaces,
  };
}

export const OPEN_ZONE: ClusterZoneEvidence = {
  domain: 'cluster.local.',
  missing: undefined,
  pods: 'insecure',
  isExcluded: () => false,
  ignoresEmptyServices: false,
};
