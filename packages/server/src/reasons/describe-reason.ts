/**
 * Reasons in words, and what to do about them.
 */
import { isIP } from 'node:net';
import type { Near, Reason } from './reason.ts';

export interface Remedy {
  readonly sentence: string;
  /** For a shell, if one command does it. */
  readonly command?: string;
}

/** A sentence without its final full stop. */
export function describeReason(reason: Reason): string {
  switch (reason.kind) {
    case 'no-such-namespace':
      return `there is no namespace "${reason.namespace}"${existed('the service', reason.existedUntil)}`;
    case 'no-such-service':
      return `there is no service "${reason.service}" in namespace ${reason.namespace}${existed('it', reason.existedUntil)}`;
    case 'no-such-endpoint':
      return `service ${formatService(reason)} has no endpoint "${reason.endpoint}"`;
    case 'endpoints-not-ready':
      return `service ${formatService(reason)} has ${count(reason.endpoints.length, 'endpoint')} that ${reason.endpoints.length === 1 ? 'is' : 'are'} not ready: ${reason.endpoints.join(', ')}`;
    case 'selector-matches-nothing':
      return `the selector ${reason.selector} of service ${formatService(reason)} matches no pod`;
    case 'no-endpoints':
      return `headless service ${formatService(reason)} has no ready endpoint${reason.hasSelector === false ? ', and no selector' : ''}`;
    case 'service-without-address':
      return `service ${formatService(reason)} has no cluster IP`;
    case 'no-such-port':
      return `service ${formatService(reason)} has no port "${reason.port}"`;
    case 'not-a-name-form':
      return 'no service, endpoint or pod can have a name of this form';
    case 'no-data':
      return `the name exists and has no ${reason.type} record${formatDetail(reason)}`;
    case 'pods-not-served':
      return reason.mode === 'disabled'
        ? 'names of pods are turned off'
        : 'no pod of the namespace has this address';
    case 'excluded-by-config':
      return `the configuration leaves out ${reason.what}`;
    case 'other-tenant':
      return `${describeOwner(reason)}, and the client ${reason.client === undefined ? 'has no tenant' : `is of tenant "${reason.client}"`}`;
    case 'zone-not-known':
      return `the cluster is not listed yet${reason.missing.length === 0 ? '' : `: ${reason.missing.join('; ')}`}`;
    case 'external-name-target':
      return `service ${formatService(reason)} is an ExternalName for ${reason.target}, which ${PROBLEM_OF_TARGET[reason.problem]}`;
    case 'blocked':
      return `plugin ${reason.plugin} refuses the query`;
    case 'denied-locally':
      return `plugin ${reason.plugin} answers for the name, and its data lacks it${formatDetail(reason)}`;
    case 'upstream-said':
      return `an upstream server said ${reason.rcode}${reason.age === undefined ? '' : ` ${reason.age} s ago${left(reason.left)}`}`;
    case 'upstream-unreachable':
      return `no upstream server answers: ${reason.servers.join(', ')}`;
    case 'forwarding-loop':
      return `the upstream server sends our queries back: ${reason.servers.join(', ')}`;
    case 'not-forwarded':
      return `the name is not forwarded: ${reason.detail}`;
    case 'foreign-cluster-domain':
      return `the name is of the cluster domain ${reason.domain}; this server serves ${reason.served}`;
  }
}

const formatDetail = ({ detail }: { readonly detail?: string }): string =>
  detail === undefined ? '' : `: ${detail}`;

function describeOwner({ what, owner }: Extract<Reason, { readonly kind: 'other-tenant' }>): string {
  return owner === undefined ? `the namespace of ${what} is not listed` : `${what} is of tenant "${owner}"`;
}

const PROBLEM_OF_TARGET = {
  address: 'is an address and not a name',
  circle: 'leads back to it',
  'no-answer': 'has no address',
} as const;

/** @param until RFC 3339 */
function existed(what: string, until: string | undefined): string {
  return until === undefined ? '' : `; ${what} existed until ${until.slice(0, 19).replace('T', ' ')} UTC`;
}

function left(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  return seconds > 0 ? `, kept for another ${seconds} s` : ', expired and served stale';
}

/** The most useful first. */
export function listRemedies(reason: Reason): readonly Remedy[] {
  // The table has the function of each kind under its own name, so the types match.
  const listForReason = REMEDIES[reason.kind] as (reason: Reason) => readonly Remedy[];
  return listForReason(reason);
}

type Remedies = {
  readonly [Kind in Reason['kind']]: (reason: Extract<Reason, { readonly kind: Kind }>) => readonly Remedy[];
};

const NONE = (): readonly Remedy[] => [];

const REMEDIES: Remedies = {
  'no-such-namespace': ({ near, namespace }) => [
    ...nearRemedies(near),
    { sentence: `Create the namespace ${namespace}, or correct the name.` },
  ],
  'no-such-service': ({ near, service, namespace }) => [
    ...nearRemedies(near),
    { sentence: `Create the service ${service} in namespace ${namespace}, or correct the name.` },
  ],
  'no-such-endpoint': ({ known, service, namespace }) => [
    {
      sentence: `Use one of its endpoints: ${known.slice(0, 5).join(', ')}. For a StatefulSet, serviceName must be ${service}.`,
      command: `kubectl -n ${namespace} get pods -o custom-columns=NAME:.metadata.name,HOSTNAME:.spec.hostname,SUBDOMAIN:.spec.subdomain`,
    },
  ],
  'endpoints-not-ready': ({ namespace, service }) => [
    { sentence: 'See why the pods are not ready.', command: `kubectl -n ${namespace} describe pods` },
    {
      sentence: 'If the pods must find each other before they are ready, publish them.',
      command: `kubectl -n ${namespace} patch service ${service} -p '{"spec":{"publishNotReadyAddresses":true}}'`,
    },
  ],
  'selector-matches-nothing': ({ namespace, service }) => [
    showLabels(namespace),
    { sentence: 'Correct the selector.', command: `kubectl -n ${namespace} edit service ${service}` },
  ],
  'no-endpoints': ({ namespace, service }) => [
    {
      sentence: 'List its endpoints, ready or not.',
      command: `kubectl -n ${namespace} get endpointslices -l kubernetes.io/service-name=${service} -o yaml`,
    },
    showLabels(namespace),
  ],
  'service-without-address': ({ namespace, service }) => [
    {
      sentence: 'See its events: the API server gives cluster IPs.',
      command: `kubectl -n ${namespace} describe service ${service}`,
    },
  ],
  'no-such-port': ({ ports }) => [{ sentence: `Use one of its ports: ${ports.join(', ')}.` }],
  'not-a-name-form': ({ meant }) => [
    {
      sentence:
        meant === undefined
          ? 'Write complete names with a final dot, or set ndots: 2 in the dnsConfig of the pod.'
          : `Use ${meant}`,
    },
  ],
  'external-name-target': ({ problem, target, namespace, service }) => [
    {
      sentence: REMEDY_OF_TARGET[problem](target),
      command: `kubectl -n ${namespace} edit service ${service}`,
    },
  ],
  'other-tenant': () => [
    {
      sentence:
        'If the client may see it, share the service or its namespace, by the annotation portolan-tenants/shared=true. To explain the name for another client, give its address by --from.',
    },
  ],
  'zone-not-known': () => [
    { sentence: 'See what the server waits for.', command: 'portolan control status' },
  ],
  'upstream-said': ({ age }) => [
    {
      sentence:
        age === undefined
          ? 'Ask whoever runs the upstream server.'
          : 'Ask again with --ask, or drop the cached answer with portolan control cache flush NAME.',
    },
  ],
  'upstream-unreachable': ({ servers }) => [
    {
      sentence: 'Query the servers from the node, and check the firewall on the way.',
      command: writeDig(servers[0]),
    },
  ],
  'forwarding-loop': () => [
    {
      sentence:
        'Give kubelet the resolv.conf with the real servers, and recreate the pods of the DNS server.',
    },
  ],
  'not-forwarded': () => [{ sentence: 'Add an upstream server for the name.' }],
  'foreign-cluster-domain': () => [
    {
      sentence:
        'Set clusterDomain of kubelet and the domain of this server to the same value, and recreate the pods.',
    },
  ],
  'no-data': NONE,
  'pods-not-served': NONE,
  'excluded-by-config': NONE,
  blocked: NONE,
  'denied-locally': NONE,
};

const REMEDY_OF_TARGET = {
  address: () => 'Replace it by a Service without selector, and an EndpointSlice with the address.',
  circle: () => 'Name a target outside the circle.',
  'no-answer': (target: string) => `Explain the target: portolan explain ${target}`,
} as const;

function showLabels(namespace: string): Remedy {
  return {
    sentence: 'Compare the selector with the labels of the pods.',
    command: `kubectl -n ${namespace} get pods --show-labels`,
  };
}

function nearRemedies(near: readonly Near[]): readonly Remedy[] {
  return near.slice(0, 1).map(({ service, namespace }) => ({ sentence: `Use ${service}.${namespace}` }));
}

/** `10.0.0.2:53`, `[2001:db8::1]:53`; a path or a name for TLS may follow. */
const SOCKET = /^(?:\[(.+?)\]|([^:/#]*))(?::(\d+))?(?:[#/].*)?$/;

/**
 * The command that asks a server as we do: `dig @10.0.0.2 -p 5353 . NS` for `10.0.0.2:5353`.
 *
 * @param question that it should answer
 */
export function writeDig(server = '', question = '. NS'): string {
  const [, scheme, rest = ''] = /^(?:(\w+):\/\/)?(.*)$/.exec(server) ?? [];
  const [, bracketed, plain, port] = isIP(rest) === 6 ? [] : (SOCKET.exec(rest) ?? []);
  const host = bracketed ?? plain ?? rest;
  const usual = scheme === 'tls' ? '853' : '53';
  const words = [
    'dig',
    `@${host}`,
    ...(port === undefined || port === usual ? [] : ['-p', port]),
    ...(scheme === 'tls' ? ['+tls'] : scheme === 'tcp' ? ['+tcp'] : scheme === 'https' ? ['+https'] : []),
    question,
  ];
  return words.join(' ');
}

function formatService({
  namespace,
  service,
}: {
  readonly namespace: string;
  readonly service: string;
}): string {
  return `${namespace}/${service}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
