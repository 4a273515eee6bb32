/**
 * Which services a name of an external zone leads to: a pure look-up in the cluster.
 */
import type { NamedTarget } from '../../names/endpoint-targets.ts';
import { type Endpoint, endpointLabel } from '../../names/endpoints.ts';
import type { ServiceObject, ServicePort } from '../../objects/objects.ts';
import type { NamespacedName } from '../../records/record-views.ts';
import type { ExternalHost } from '../kubernetes/external-services.ts';
import type { ExposedCluster } from '../kubernetes/kubernetes-plugin.ts';

/** A host with one of its ports, and the name below the zone that its addresses have. */
export interface ReachedPort {
  readonly host: ExternalHost;
  /** Undefined: it has no port. */
  readonly port: ServicePort | undefined;
  /** Labels below the zone: `service.namespace`, `endpoint.service.namespace`. */
  readonly owner: string;
}

export type ReachedServices =
  | { readonly kind: 'found'; readonly ports: readonly ReachedPort[] }
  /** The name exists without records. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'missing' };

/** The parts of a name; empty texts match everything. */
interface AskedParts {
  readonly endpoint: string | undefined;
  readonly port: string;
  readonly protocol: string;
}

const NO_PARTS: AskedParts = { endpoint: undefined, port: '', protocol: '' };

export class ServiceFinder {
  readonly #exposed: ExposedCluster;
  readonly #namespaces: ReadonlySet<string>;
  readonly #hasEndpoints: boolean;

  /** @param hasEndpoints whether headless services are reached at their endpoints */
  constructor(exposed: ExposedCluster, hasEndpoints: boolean) {
    this.#exposed = exposed;
    this.#namespaces = new Set(exposed.namespaces);
    this.#hasEndpoints = hasEndpoints;
  }

  /** @param labels of the name below the zone, in lower case; at least one */
  find(labels: readonly string[]): ReachedServices {
    const namespace = labels.at(-1) ?? '';
    if (!this.isShown(namespace)) return { kind: 'missing' };
    const service = labels.at(-2);
    if (service === undefined) return { kind: 'empty' };
    const parts = parseParts(labels.slice(0, -2));
    const ports = parts === undefined ? [] : this.#listPorts({ namespace, name: service }, parts);
    return ports.length === 0 ? { kind: 'missing' } : { kind: 'found', ports };
  }

  /** The services that are shown and reached at an address. @param address canonical */
  at(address: string): readonly NamespacedName[] {
    return this.#exposed.services.servicesAt(address);
  }

  isShown(namespace: string): boolean {
    const isConfigured = this.#namespaces.size === 0 || this.#namespaces.has(namespace);
    return isConfigured && this.#exposed.cluster.hasNamespace(namespace);
  }

  /** Names of services and, below them, of their ports and endpoints, each as labels below the zone. */
  *names(): Iterable<readonly string[]> {
    const { cluster, services } = this.#exposed;
    for (const service of [...services.services()])
      if (this.isShown(service.namespace)) yield* this.#listNames(service);
    if (!this.#hasEndpoints) return;
    for (const service of [...cluster.contents.services()])
      if (services.findHosts(service.namespace, service.name).length === 0 && this.isShown(service.namespace))
        yield* this.#listNames(service);
  }

  *#listNames({ namespace, name }: NamespacedName): Iterable<readonly string[]> {
    const ports = this.#listPorts({ namespace, name }, NO_PARTS);
    const own = [name, namespace];
    const below = new Set<string>();
    for (const { owner, port } of ports) {
      if (port !== undefined && port.name !== '')
        below.add(`_${port.name}._${port.protocol.toLowerCase()}.${own.join('.')}`);
      below.add(owner);
    }
    below.delete(own.join('.'));
    if (ports.length > 0) yield own;
    for (const labels of below) yield labels.split('.');
  }

  #listPorts({ namespace, name }: NamespacedName, parts: AskedParts): readonly ReachedPort[] {
    const { cluster, services } = this.#exposed;
    const service = cluster.contents.service(namespace, name);
    if (service === undefined) return [];
    const hosts = services.findHosts(namespace, name);
    if (hosts.length > 0) return portsOfHosts(service, hosts, parts);
    const isByEndpoint = service.address.kind === 'headless' || parts.endpoint !== undefined;
    if (!this.#hasEndpoints || !isByEndpoint) return [];
    return [
      ...portsOfEndpoints(service, cluster.contents.readyEndpoints(namespace, name), parts),
      ...portsOfTargets(service, cluster.contents.readyTargets(namespace, name), parts),
    ];
  }
}

/** @param labels before the service; undefined: too many */
function parseParts(labels: readonly string[]): AskedParts | undefined {
  const [first, second, ...more] = labels.map((label) => label.replace(/^_/, ''));
  if (more.length > 0) return undefined;
  if (second !== undefined) return { endpoint: undefined, port: first ?? '', protocol: second };
  return first === undefined ? NO_PARTS : { ...NO_PARTS, endpoint: first };
}

function portsOfHosts(
  { namespace, name, ports }: ServiceObject,
  hosts: readonly ExternalHost[],
  parts: AskedParts,
): readonly ReachedPort[] {
  const matching = matchingPorts(ports, parts);
  const owner = `${name}.${namespace}`;
  return hosts.flatMap((host) => matching.map((port) => ({ host, port, owner })));
}

function portsOfEndpoints(
  { namespace, name }: ServiceObject,
  endpoints: readonly Endpoint[],
  parts: AskedParts,
): readonly ReachedPort[] {
  return endpoints.flatMap((endpoint) => {
    const label = endpointLabel(endpoint);
    if (parts.endpoint !== undefined && parts.endpoint !== '' && parts.endpoint !== label) return [];
    const host = { kind: 'address', address: endpoint.address } as const;
    const owner = `${label}.${name}.${namespace}`;
    return matchingPorts(endpoint.ports, parts).map((port) => ({ host, port, owner }));
  });
}

/** The endpoints that are names. */
function portsOfTargets(
  { namespace, name }: ServiceObject,
  targets: readonly NamedTarget[],
  parts: AskedParts,
): readonly ReachedPort[] {
  return targets.flatMap(({ target, label, ports }) => {
    if (parts.endpoint !== undefined && parts.endpoint !== '' && parts.endpoint !== label) return [];
    const host = { kind: 'name', name: target } as const;
    const owner = label === undefined ? `${name}.${namespace}` : `${label}.${name}.${namespace}`;
    return matchingPorts(ports, parts).map((port) => ({ host, port, owner }));
  });
}

/** A service without ports has addresses all the same, except for a question about a port. */
function matchingPorts(
  ports: readonly ServicePort[],
  { port, protocol }: AskedParts,
): readonly (ServicePort | undefined)[] {
  if (ports.length === 0) return port === '' && protocol === '' ? [undefined] : [];
  return ports.filter(
    (each) =>
      (port === '' || each.name.toLowerCase() === port) &&
      (protocol === '' || each.protocol.toLowerCase() === protocol),
  );
}
