/**
 * What is kept of the objects of each kind. They come from the API server as they are, so each field is checked.
 */
import { isIP } from 'node:net';
import type { WatchedKind } from '@portolan/plugin';

/** Where clients reach something. */
export interface Target {
  /** IPv4 and IPv6. */
  readonly addresses: readonly string[];
  /** Names of load balancers, to be resolved. */
  readonly hosts: readonly string[];
}

/** An object with names of its own. */
export interface NamedObject extends Target {
  /** Lower case, without a dot at the end; below a zone, or whole. */
  readonly names: readonly string[];
  readonly texts?: readonly string[];
  /** Gateways whose addresses count, as `namespace/name`. */
  readonly gateways?: readonly string[];
  /** The service whose ready endpoints count, as `namespace/name`. */
  readonly endpointService?: string;
}

/** Several names with their own targets in one object. */
export type NamedObjects = readonly NamedObject[];

export interface GatewayObject extends Target {
  readonly className: string;
}

/** A part of the ready endpoints of a service. */
export interface ReadyEndpoints {
  /** `namespace/name` */
  readonly service: string;
  readonly addresses: readonly string[];
}

export type KindOf<Value> = Omit<WatchedKind<Value>, 'labels' | 'kubeconfig'>;

const GATEWAY_GROUP = 'gateway.networking.k8s.io';
const IGNORED = 'k8s-gateway.dns/ignore';
const RESOLVES_ENDPOINTS = 'k8s-gateway.dns/resolve-endpoints';
/** Annotations of names, the first that a service has. */
const NAME_ANNOTATIONS = ['coredns.io/hostname', 'external-dns.alpha.kubernetes.io/hostname'];
const HOST_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME = 253;

export const gateways: KindOf<GatewayObject> = {
  group: GATEWAY_GROUP,
  versions: ['v1', 'v1beta1'],
  resource: 'gateways',
  read(object) {
    const addresses = list(at(object, 'status', 'addresses'));
    const ofType = (type: string) =>
      addresses.flatMap((each) =>
        (text(at(each, 'type')) ?? 'IPAddress') === type ? strings([at(each, 'value')]) : [],
      );
    return {
      className: text(at(object, 'spec', 'gatewayClassName')) ?? '',
      addresses: ofType('IPAddress').filter(isAddress),
      hosts: ofType('Hostname'),
    };
  },
};

export const endpointSlices: KindOf<ReadyEndpoints> = {
  group: 'discovery.k8s.io',
  versions: ['v1'],
  resource: 'endpointslices',
  read(object) {
    const service = text(at(object, 'metadata', 'labels', 'kubernetes.io/service-name'));
    if (service === undefined) return undefined;
    const ready = list(at(object, 'endpoints')).filter((each) => at(each, 'conditions', 'ready') !== false);
    return {
      service: `${getNamespace(object)}/${service}`,
      addresses: ready.flatMap((each) => strings(at(each, 'addresses'))).filter(isAddress),
    };
  },
};

export const httpRoutes = routeKind('httproutes', ['v1', 'v1beta1']);
export const tlsRoutes = routeKind('tlsroutes', ['v1', 'v1alpha3', 'v1alpha2']);
export const grpcRoutes = routeKind('grpcroutes', ['v1', 'v1alpha2']);

function routeKind(resource: string, versions: readonly [string, ...string[]]): KindOf<NamedObjects> {
  return {
    group: GATEWAY_GROUP,
    versions,
    resource,
    read: unlessIgnored((object) => {
      const parents = list(at(object, 'spec', 'parentRefs')).filter(
        (parent) => (text(at(parent, 'kind')) ?? 'Gateway') === 'Gateway',
      );
      const gatewayNames = parents.map(
        (parent) =>
          `${text(at(parent, 'namespace')) ?? getNamespace(object)}/${text(at(parent, 'name')) ?? ''}`,
      );
      const names = strings(at(object, 'spec', 'hostnames'));
      return [{ names: names.map(plain), addresses: [], hosts: [], gateways: gatewayNames }];
    }),
  };
}

/** @param classes empty: all */
export function ingresses(classes: readonly string[]): KindOf<NamedObjects> {
  return {
    group: 'networking.k8s.io',
    versions: ['v1', 'v1beta1'],
    resource: 'ingresses',
    read: unlessIgnored((object) => {
      const className = text(at(object, 'spec', 'ingressClassName')) ?? '';
      if (classes.length > 0 && !classes.includes(className)) return [];
      const names = list(at(object, 'spec', 'rules')).flatMap((rule) => strings([at(rule, 'host')]));
      return [{ names: names.map(plain), ...readLoadBalancer(object) }];
    }),
  };
}

export const services: KindOf<NamedObjects> = {
  group: '',
  versions: ['v1'],
  resource: 'services',
  read: unlessIgnored((object) => {
    const resolvesEndpoints = at(object, 'metadata', 'annotations', RESOLVES_ENDPOINTS) === 'true';
    if (at(object, 'spec', 'type') !== 'LoadBalancer' && !resolvesEndpoints) return [];
    const names = namesOfService(object);
    if (resolvesEndpoints)
      return [
        { names, addresses: [], hosts: [], endpointService: `${getNamespace(object)}/${getName(object)}` },
      ];
    const external = strings(at(object, 'spec', 'externalIPs')).filter(isAddress);
    // As in the original: external addresses replace those of the load balancer.
    return [
      { names, ...(external.length > 0 ? { addresses: external, hosts: [] } : readLoadBalancer(object)) },
    ];
  }),
};

function namesOfService(object: unknown): readonly string[] {
  const annotated = NAME_ANNOTATIONS.map((name) => text(at(object, 'metadata', 'annotations', name))).find(
    (value) => value !== undefined,
  );
  if (annotated === undefined) return [`${getName(object)}.${getNamespace(object)}`];
  return annotated.replaceAll(' ', '').split(',').map(plain).filter(isHostName);
}

export const dnsEndpoints: KindOf<NamedObjects> = {
  group: 'externaldns.k8s.io',
  versions: ['v1alpha1'],
  resource: 'dnsendpoints',
  read: unlessIgnored((object) =>
    list(at(object, 'spec', 'endpoints')).map((endpoint) => {
      const type = at(endpoint, 'recordType');
      const targets = strings(at(endpoint, 'targets'));
      return {
        names: strings([at(endpoint, 'dnsName')]).map(plain),
        addresses: type === 'A' || type === 'AAAA' ? targets.filter(isAddress) : [],
        hosts: [],
        texts: type === 'TXT' ? targets : [],
      };
    }),
  ),
};

/** @param addressType `InternalIP` or `ExternalIP` */
export function nodes(addressType: string): KindOf<NamedObjects> {
  return {
    group: '',
    versions: ['v1'],
    resource: 'nodes',
    read: unlessIgnored((object) => {
      const addresses = list(at(object, 'status', 'addresses'));
      const ofType = (type: string) =>
        addresses.flatMap((each) => (at(each, 'type') === type ? strings([at(each, 'address')]) : []));
      const names = ofType('Hostname').map(plain);
      return [{ names, addresses: ofType(addressType).filter(isAddress), hosts: [] }];
    }),
  };
}

/** Of the NGINX Ingress Controller. */
export const virtualServers: KindOf<NamedObjects> = {
  group: 'k8s.nginx.org',
  versions: ['v1'],
  resource: 'virtualservers',
  read: unlessIgnored((object) => {
    const external = list(at(object, 'status', 'externalEndpoints')).flatMap((each) =>
      strings([at(each, 'ip')]),
    );
    const names = strings([at(object, 'spec', 'host')]).map(plain);
    return [{ names, addresses: external.filter(isAddress), hosts: [] }];
  }),
};

/** Leaves out objects without a name and those with the label that says so. */
function unlessIgnored(
  read: (object: unknown) => NamedObjects,
): (object: unknown) => NamedObjects | undefined {
  return (object) => {
    if (at(object, 'metadata', 'labels', IGNORED) === 'true') return undefined;
    const named = read(object).filter(({ names }) => names.length > 0);
    return named.length === 0 ? undefined : named;
  };
}

/** `status.loadBalancer.ingress`. */
function readLoadBalancer(object: unknown): Target {
  const points = list(at(object, 'status', 'loadBalancer', 'ingress'));
  const hosts = points.flatMap((point) => strings([at(point, 'hostname')]));
  // As in the original, a host name replaces the address beside it.
  const bare = points.filter((point) => strings([at(point, 'hostname')]).length === 0);
  return { hosts, addresses: bare.flatMap((point) => strings([at(point, 'ip')])).filter(isAddress) };
}

const getName = (object: unknown): string => text(at(object, 'metadata', 'name')) ?? '';
const getNamespace = (object: unknown): string => text(at(object, 'metadata', 'namespace')) ?? '';
const plain = (name: string): string => name.toLowerCase().replace(/\.$/, '');
const isAddress = (value: string): boolean => isIP(value) !== 0 && !value.includes('%');

function isHostName(name: string): boolean {
  return name.length <= MAX_NAME && HOST_NAME.test(name.replace(/^\*\./, ''));
}

/** The value of nested fields; undefined where one is missing. */
function at(value: unknown, ...fields: readonly string[]): unknown {
  let inner = value;
  for (const field of fields) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, field)) return undefined;
    // An object with this field of its own.
    inner = (inner as Readonly<Record<string, unknown>>)[field];
  }
  return inner;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function strings(value: unknown): readonly string[] {
  return list(value).flatMap((item) => text(item) ?? []);
}
