/**
 * The reason why a name of a cluster has no answer: a pure function of the objects and the settings of the zone.
 */
import { isIP } from 'node:net';
import { findOwnPort } from '@portolan/kubernetes/names/https-port.ts';
import type {
  ClusterEvidence,
  ClusterZoneEvidence,
  EndpointEvidence,
  ServiceEvidence,
} from './cluster-evidence.ts';
import { findNearNamespaces, findNearServices } from './near-names.ts';
import type { Near, Reason } from './reason.ts';

/** A name without an answer, and the state that it is explained by. */
export interface ClusterQuestion {
  /** The labels below the apex of the zone, in lower case. */
  readonly labels: readonly string[];
  /** The type, as in `AAAA`. */
  readonly type: string;
  /** Whether the answer was that the name exists without this type. */
  readonly isNoData: boolean;
  readonly zone: ClusterZoneEvidence;
  readonly evidence: ClusterEvidence;
}

const ADDRESS_LABEL = /^[0-9a-f]*(?:[-:][0-9a-f]*){2,7}$/;

export function findClusterReason(question: ClusterQuestion): Reason {
  const reason = findReason(question);
  // The answer is right, whatever the evidence lacks.
  if (question.isNoData) return MISSING.has(reason.kind) ? noData(question) : reason;
  return reason.kind === 'no-data' ? { kind: 'not-a-name-form', meant: undefined } : reason;
}

/** Reasons that say that a name does not exist. */
const MISSING: ReadonlySet<Reason['kind']> = new Set([
  'no-such-namespace',
  'no-such-service',
  'no-such-endpoint',
  'no-such-port',
  'not-a-name-form',
  'pods-not-served',
  'other-tenant',
]);

function findReason(question: ClusterQuestion): Reason {
  const { labels, zone } = question;
  if (zone.missing !== undefined) return { kind: 'zone-not-known', missing: zone.missing };
  const top = labels.at(-1);
  if (top === 'svc') return findServiceReason(question);
  if (top === 'pod') return findPodReason(question);
  if (labels.length === 0) return noData(question);
  return { kind: 'not-a-name-form', meant: findMeant(question) };
}

function findServiceReason(question: ClusterQuestion): Reason {
  const { labels, zone, evidence, type } = question;
  const [service, namespace] = labels.slice(-3, -1);
  if (labels.length === 1) return noData(question);
  if (labels.length === 2) return findNamespaceReason(question, service ?? '');
  if (service === undefined || namespace === undefined) return noData(question);
  const rest = labels.slice(0, -3);
  if (zone.isExcluded(namespace)) return { kind: 'excluded-by-config', what: `the namespace ${namespace}` };
  const found = evidence.findService(namespace, service);
  const hiding = found && zone.findHiding?.(namespace, service);
  if (hiding !== undefined)
    return { kind: 'other-tenant', what: `service ${namespace}/${service}`, ...hiding };
  if (found !== undefined) return findReasonOfService(question, found, rest);
  // Only a search list makes such names: `github.com.shop.svc`.
  if (rest.length > 1 && !rest.some((label) => label.startsWith('_')))
    return { kind: 'not-a-name-form', meant: undefined };
  if (rest.length === 1 && !rest[0]?.startsWith('_') && type !== 'SRV' && !evidence.hasNamespace(namespace))
    return { kind: 'not-a-name-form', meant: findMeant(question) };
  const gone = evidence.goneSince?.(namespace, service);
  const existed = gone === undefined ? {} : { existedUntil: new Date(gone).toISOString() };
  if (evidence.hasNamespace(namespace)) {
    const near = findNear(question, namespace, service);
    return { kind: 'no-such-service', namespace, service, near, ...existed };
  }
  const wanted = { namespace, name: service };
  const near = findNearNamespaces(
    wanted,
    evidence.namespaces(),
    (where, what) => evidence.findService(where, what) !== undefined,
  );
  return {
    kind: 'no-such-namespace',
    namespace,
    near: near.length > 0 ? near : findNear(question, namespace, service),
    ...existed,
  };
}

/** Finds swapped labels too: `shop.cart` for `cart.shop`. */
function findNear({ evidence, zone }: ClusterQuestion, namespace: string, service: string): readonly Near[] {
  const isShown = ({ namespace: where }: { readonly namespace: string }) => !zone.isExcluded(where);
  const swapped = evidence.findService(service, namespace);
  const first = swapped === undefined ? [] : [{ service: namespace, namespace: service, distance: 0 }];
  const near = findNearServices({ namespace, name: service }, evidence.services());
  return [...first, ...near].filter(isShown);
}

function findNamespaceReason(question: ClusterQuestion, namespace: string): Reason {
  const { evidence, zone } = question;
  if (zone.isExcluded(namespace)) return { kind: 'excluded-by-config', what: `the namespace ${namespace}` };
  if (question.isNoData) return noData(question);
  const hiding = evidence.hasNamespace(namespace) ? zone.findHiding?.(namespace, undefined) : undefined;
  if (hiding !== undefined) return { kind: 'other-tenant', what: `namespace ${namespace}`, ...hiding };
  // A search list adds `svc` to a name without its namespace.
  const elsewhere = findNearServices({ namespace: '', name: namespace }, evidence.services());
  return { kind: 'no-such-namespace', namespace, near: elsewhere.filter(({ distance }) => distance === 0) };
}

function findReasonOfService(
  question: ClusterQuestion,
  service: ServiceEvidence,
  rest: readonly string[],
): Reason {
  const { address } = service;
  const about = { namespace: service.namespace, service: service.name };
  const [first = '', second = ''] = rest;
  if (address.kind === 'externalName') {
    if (rest.length > 0) return { kind: 'not-a-name-form', meant: undefined };
    const problem = findTargetProblem(question, service, address.name);
    if (problem === 'no-answer' && question.isNoData && question.type !== 'A' && question.type !== 'AAAA')
      return noData(question);
    return { kind: 'external-name-target', ...about, target: address.name, problem };
  }
  if (rest.length === 0) return findAddressReason(question, service);
  if (first.startsWith('_') || (rest.length === 1 && ['_tcp', '_udp', '_sctp'].includes(first)))
    return findPortReason(question, service, first, second);
  if (rest.length > 1) return { kind: 'not-a-name-form', meant: undefined };
  const { ready } = service.endpoints;
  const isServed = ready.some((endpoint) => isNamed(endpoint, first));
  if (isServed && question.isNoData) return noData(question);
  const { notReady = [], terminating = [] } = service.endpoints;
  const waiting = [...notReady, ...terminating].filter((endpoint) => isNamed(endpoint, first));
  if (waiting.length > 0)
    return { kind: 'endpoints-not-ready', ...about, endpoints: waiting.map(describeEndpoint) };
  if (ready.length === 0) return findEmptyReason(service);
  return { kind: 'no-such-endpoint', ...about, endpoint: first, known: ready.map(describeEndpoint) };
}

/** The most ExternalNames that lead to each other. */
const MAX_ALIASES = 16;

function findTargetProblem(
  { evidence, zone }: ClusterQuestion,
  service: ServiceEvidence,
  target: string,
): 'address' | 'circle' | 'no-answer' {
  if (isIP(target.replace(/\.$/, '')) !== 0) return 'address';
  let at: string | undefined = target;
  for (let steps = 0; at !== undefined && steps < MAX_ALIASES; steps += 1) {
    const next = serviceAt(at, zone.domain, evidence);
    if (next?.name === service.name && next.namespace === service.namespace) return 'circle';
    at = next?.address.kind === 'externalName' ? next.address.name : undefined;
  }
  return at === undefined ? 'no-answer' : 'circle';
}

/** The service with this whole name. */
function serviceAt(name: string, domain: string, evidence: ClusterEvidence): ServiceEvidence | undefined {
  const key = `${name.toLowerCase().replace(/\.$/, '')}.`;
  if (!key.endsWith(`.svc.${domain}`)) return undefined;
  const [service = '', namespace = '', ...rest] = key.slice(0, -`.svc.${domain}`.length).split('.');
  return rest.length > 0 ? undefined : evidence.findService(namespace, service);
}

function findAddressReason(question: ClusterQuestion, service: ServiceEvidence): Reason {
  const { address, endpoints, namespace, name } = service;
  if (address.kind === 'headless' && endpoints.ready.length === 0) return findEmptyReason(service);
  if (question.isNoData) return question.type === 'HTTPS' ? noHttps(question, service) : noData(question);
  const ignores = question.zone.ignoresEmptyServices && endpoints.ready.length === 0;
  if (ignores) return { kind: 'excluded-by-config', what: 'a service without ready endpoints' };
  return { kind: 'service-without-address', namespace, service: name };
}

/** A service without ready endpoints. */
function findEmptyReason({ namespace, name, selector, selectedPods, endpoints }: ServiceEvidence): Reason {
  const about = { namespace, service: name };
  const waiting = [...(endpoints.notReady ?? []), ...(endpoints.terminating ?? [])];
  if (waiting.length > 0)
    return { kind: 'endpoints-not-ready', ...about, endpoints: waiting.map(describeEndpoint) };
  const hasSelector = selector === undefined ? undefined : selector !== 'none';
  if (selector !== undefined && selector !== 'none' && (selectedPods ?? 1) === 0) {
    const text = Array.from(selector, ([key, value]) => `${key}=${value}`).join(',');
    return { kind: 'selector-matches-nothing', ...about, selector: text };
  }
  return { kind: 'no-endpoints', ...about, hasSelector };
}

function findPortReason(
  question: ClusterQuestion,
  service: ServiceEvidence,
  port: string,
  protocol: string,
): Reason {
  const { namespace, name, ports, address, endpoints } = service;
  const isKnown = ports.some((each) => `_${each.name}` === port && `_${each.protocol}` === protocol);
  const isAbove = protocol === '' && ports.some((each) => `_${each.protocol}` === port);
  if ((isKnown || isAbove) && question.isNoData) return noData(question);
  const isEmpty = address.kind === 'headless' && endpoints.ready.length === 0;
  if ((isKnown || isAbove) && isEmpty) return findEmptyReason(service);
  if ((isKnown || isAbove) && address.kind === 'clusterIPs' && address.addresses.length === 0)
    return findAddressReason(question, service);
  return {
    kind: 'no-such-port',
    namespace,
    service: name,
    port: protocol === '' ? port : `${port}.${protocol}`,
    ports: ports.map((each) => `_${each.name}._${each.protocol}`),
  };
}

function findPodReason(question: ClusterQuestion): Reason {
  const { labels, zone, evidence } = question;
  const [label = '', namespace = ''] = labels.slice(-3, -1);
  if (zone.pods === 'disabled') return { kind: 'pods-not-served', mode: 'disabled' };
  if (labels.length < 3) return labels.length === 2 ? findNamespaceReason(question, label) : noData(question);
  if (labels.length > 3 || !ADDRESS_LABEL.test(label)) return { kind: 'not-a-name-form', meant: undefined };
  if (!evidence.hasNamespace(namespace) || zone.findHiding?.(namespace, undefined) !== undefined)
    return findNamespaceReason(question, namespace);
  if (question.isNoData || zone.pods === 'insecure') return noData(question);
  return { kind: 'pods-not-served', mode: 'verified' };
}

/** `cart.shop` for `cart.shop.svc`, if that exists. */
function findMeant({ labels, evidence, zone }: ClusterQuestion): string | undefined {
  const words = labels.at(-1) === 'svc' ? labels.slice(0, -1) : labels;
  const [service, namespace] = words;
  if (words.length !== 2 || service === undefined || namespace === undefined) return undefined;
  if (evidence.findService(namespace, service) === undefined) return undefined;
  return `${service}.${namespace}.svc.${zone.domain}`;
}

function noHttps({ type, zone }: ClusterQuestion, { ports }: ServiceEvidence): Reason {
  if (zone.hasHttpsRecords !== true) return { kind: 'no-data', type, detail: 'HTTPS records are off' };
  const tcp = ports.filter(({ protocol }) => protocol === 'tcp');
  // What the ports do not forbid, the endpoints do.
  return { kind: 'no-data', type, detail: NO_HTTPS[findOwnPort(tcp).kind] };
}

const NO_HTTPS = {
  'no-tls-port': 'no port of the service has appProtocol https',
  'plain-port':
    'it would lead clients of http:// to TLS, and port 80 or 443, or one with appProtocol http, may be without',
  'several-ports': 'several ports have appProtocol https, and none is 443',
  found: 'the endpoints have other ports than the service',
} as const;

function noData({ type }: ClusterQuestion): Reason {
  return { kind: 'no-data', type };
}

/** By its hostname, or by its address with dashes. */
function isNamed({ hostname, address, pod }: EndpointEvidence, label: string): boolean {
  return hostname === label || pod === label || address.replaceAll(/[.:]/g, '-') === label;
}

function describeEndpoint({ pod, hostname, address }: EndpointEvidence): string {
  const name = pod ?? hostname;
  return name === undefined ? address : `${name} (${address})`;
}
