/**
 * Random small clusters. Names and addresses come from short lists, so that objects collide: services share endpoints,
 * hostnames share addresses, slices repeat each other, aliases lead to services and form loops.
 */
import fc from 'fast-check';
import type {
  ClusterObject,
  EndpointGroup,
  EndpointsObject,
  EndpointTarget,
  NamespaceObject,
  PodObject,
  ServiceObject,
  ServicePort,
} from '../objects/objects.ts';

const NAMESPACES = ['blue', 'green'];
const SERVICES = ['web', 'web', 'db', 'db', 'tcp', 'Odd.Name'];
const HOSTNAMES = [undefined, undefined, 'db-0', 'DB-1', 'not a label', 'x'.repeat(64)];
export const ADDRESSES = [
  '10.244.0.1',
  '10.244.0.2',
  '10.244.1.3',
  '10.96.0.7',
  'fd00::1',
  'FD00:0::2',
  'fd00::',
  '169.254.169.254',
];
const EXTERNAL_NAMES = [
  'www.example.com',
  'web.blue.svc.cluster.local',
  'db.green.svc.cluster.local.',
  'missing.blue.svc.cluster.local',
  '192.0.2.7',
  'fd00::7',
  'not..a.name',
  '',
];

const port: fc.Arbitrary<ServicePort> = fc.record({
  name: fc.constantFrom('', 'http', 'http', 'HTTP', 'dns', 'a port', 'y'.repeat(63)),
  protocol: fc.constantFrom('TCP', 'TCP', 'UDP', 'SCTP'),
  port: fc.constantFrom(53, 80, 65_535),
});
const ports = fc.array(port, { maxLength: 4 });
const address = fc.constantFrom(...ADDRESSES, '300.1.2.3');

export const arbitraryService: fc.Arbitrary<ServiceObject> = fc.record({
  kind: fc.constant('Service'),
  namespace: fc.constantFrom(...NAMESPACES),
  name: fc.constantFrom(...SERVICES),
  address: fc.oneof(
    fc.record({ kind: fc.constant('clusterIPs'), addresses: fc.array(address, { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('headless') }),
    fc.record({ kind: fc.constant('externalName'), name: fc.constantFrom(...EXTERNAL_NAMES) }),
  ),
  ports,
  selects: fc.boolean(),
});

const target: fc.Arbitrary<EndpointTarget> = fc.record({
  target: fc.constantFrom(
    'www.example.com',
    'Web.blue.svc.cluster.local.',
    'not..a.name',
    '\\046.example.com',
  ),
  hostname: fc.constantFrom(...HOSTNAMES),
});

/** Some are those of a slice of names, beside addresses that the API server would not take there. */
const group: fc.Arbitrary<EndpointGroup> = fc.record({
  targets: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.array(target, { maxLength: 3 })),
  addresses: fc.array(fc.record({ address, hostname: fc.constantFrom(...HOSTNAMES) }), {
    maxLength: 4,
  }),
  ports,
});

export const arbitraryEndpoints: fc.Arbitrary<EndpointsObject> = fc
  .record({
    namespace: fc.constantFrom(...NAMESPACES),
    service: fc.constantFrom(...SERVICES),
    slice: fc.constantFrom('1', '2', 'shared'),
    groups: fc.array(group, { maxLength: 2 }),
  })
  .map(({ namespace, service, slice, groups }) => {
    // The slice of one name may come back as another service's.
    const name = slice === 'shared' ? slice : `${service}-${slice}`;
    return { kind: 'Endpoints', namespace, name, service, groups };
  });

export const arbitraryNamespace: fc.Arbitrary<NamespaceObject> = fc.record({
  kind: fc.constant('Namespace'),
  name: fc.constantFrom(...NAMESPACES, 'empty', 'Not.A.Label'),
});

export const arbitraryPod: fc.Arbitrary<PodObject> = fc.record({
  kind: fc.constant('Pod'),
  namespace: fc.constantFrom(...NAMESPACES),
  name: fc.constantFrom('pod-1', 'pod-2', 'pod-3'),
  addresses: fc.array(address, { maxLength: 2 }),
});

/** A cluster with a little of everything. */
export const arbitraryObjects: fc.Arbitrary<readonly ClusterObject[]> = fc
  .tuple(
    fc.array(arbitraryService, { minLength: 4, maxLength: 16 }),
    fc.array(arbitraryEndpoints, { minLength: 2, maxLength: 12 }),
    fc.array(arbitraryNamespace, { maxLength: 3 }),
    fc.array(arbitraryPod, { maxLength: 3 }),
  )
  .map((kinds) => kinds.flat());

const LABELS = [
  'web',
  'db',
  'tcp',
  'blue',
  'green',
  'empty',
  'svc',
  'pod',
  'ns',
  'dns',
  'dns-version',
  '*',
  'x',
  'WEB',
  '_http',
  '_dns',
  '_tcp',
  '_udp',
  '_sctp',
  'http',
  'db-0',
  'db-1',
  'www-example-com',
  '10-244-0-1',
  '10-244-1-3',
  'fd00--1',
  'fd00--0',
  // The labels of kube-dns for 10.244.0.1 and 10.96.0.7.
  ...['6535633032326533', '3535386465373532'],
];

const clusterName = fc
  .record({
    below: fc.array(fc.constantFrom(...LABELS), { maxLength: 3 }),
    service: fc.constantFrom('web', 'db', 'tcp', 'x', '*'),
    namespace: fc.constantFrom('blue', 'green', 'empty', 'x', '*'),
  })
  .map(({ below, service, namespace }) => [...below, service, namespace, 'svc', 'cluster.local.'].join('.'));
/** Names that many of these clusters have. */
export const LIKELY_NAMES: readonly string[] = [
  '',
  '_http._tcp.',
  '_http._udp.',
  '_dns._tcp.',
  '_tcp.',
  'http.tcp.',
  'db-0.',
  'db-1.',
  '10-244-0-1.',
  'www-example-com.',
  '10-244-1-3.',
  'fd00--1.',
  'fd00--0.',
  '6535633032326533.',
  'x.',
  '*.',
]
  .flatMap((below) => ['web.', 'db.', 'tcp.'].map((service) => below + service))
  .flatMap((names) => ['blue', 'green'].map((namespace) => `${names}${namespace}.svc.cluster.local.`));

const anyName = fc
  .array(fc.constantFrom(...LABELS), { maxLength: 5 })
  .map((labels) => [...labels, 'cluster.local.'].join('.'));
const reverseNames = fc.constantFrom(
  '1.0.244.10.in-addr.arpa.',
  '3.1.244.10.in-addr.arpa.',
  '7.0.96.10.in-addr.arpa.',
  '9.9.9.9.in-addr.arpa.',
  '244.10.in-addr.arpa.',
  'in-addr.arpa.',
  'ns.dns.in-addr.arpa.',
  'ip6.arpa.',
  'd.f.ip6.arpa.',
  'x.y.ip6.arpa.',
  `1.${'0.'.repeat(27)}0.0.d.f.ip6.arpa.`,
);

/** Names that often exist in a random cluster, and names close to them. */
export const arbitraryQuestionName: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...LIKELY_NAMES) },
  { weight: 2, arbitrary: clusterName },
  anyName,
  reverseNames,
  fc.constantFrom('www.example.com.', '.', 'local.'),
);
