import { presentData } from '@portolan/dns/record-data.ts';
import { type Answer, type Service, WATCHES, type Watch, type WatchedKind } from '@portolan/plugin';
import { BLOCK, makeAnswer, makeContext, makeQuery, makeUse } from '@portolan/testing/uses.ts';
import { describe, expect, it } from 'vitest';
import { Gateway } from './gateway.ts';
import { HostAddresses } from './host-addresses.ts';
import { readOptions } from './options.ts';

const block = { ...BLOCK, resolve: (path: string) => `/etc/${path}` };

const options = (...lines: readonly string[]) => readOptions([makeUse('k8s_gateway', ...lines)], block);

type State = Watch<unknown>['state'];

/** A gateway over objects by the names of their resources. */
async function make(
  objects: Readonly<Record<string, readonly object[]>>,
  lines: readonly string[] = [],
  state: State = 'followed',
) {
  const held = new Map(Object.entries(objects));
  const followed: string[] = [];
  const changes: (() => void)[] = [];
  const watches = {
    async follow<Value>(kind: WatchedKind<Value>, changed: () => void): Promise<Watch<Value>> {
      followed.push(kind.resource);
      changes.push(changed);
      return {
        get objects() {
          const entries = (held.get(kind.resource) ?? []).flatMap((object, index) => {
            const { metadata = {} } = object as { readonly metadata?: { name?: string; namespace?: string } };
            const value = kind.read(object);
            const { namespace = 'default', name = String(index) } = metadata;
            return value === undefined ? [] : [[`${namespace}/${name}`, value] as const];
          });
          return new Map(entries);
        },
        state,
      };
    },
  };
  const host = makeContext();
  const context = {
    ...host,
    use<Value>(service: Service<Value>): Value {
      // The service of this name.
      return service.name === WATCHES.name ? (watches as Value) : host.use(service);
    },
  };
  const resolver = {
    resolve4: async (host: string) => {
      if (host !== 'lb.cloud.test') throw new Error(`ENOTFOUND ${host}`);
      return [{ address: '192.0.2.77', ttl: 30 }];
    },
    resolve6: async () => [],
    cancel() {},
  };
  const gateway = new Gateway(options(...lines), context, new HostAddresses(resolver, () => 0));
  if (state !== 'listing') await gateway.start();
  for (const changed of changes) changed();
  return {
    gateway,
    followed,
    set: (resource: string, given: readonly object[]) => {
      held.set(resource, given);
      for (const changed of changes) changed();
    },
  };
}

const PASSED = makeAnswer(0);
const TYPES = new Map([
  ['A', 1],
  ['NS', 2],
  ['SOA', 6],
  ['MX', 15],
  ['TXT', 16],
  ['AAAA', 28],
]);

const ask = (gateway: Gateway, name: string, type = 'A'): Promise<Answer> =>
  gateway.handle(makeQuery(name, TYPES.get(type)), async () => PASSED);

function describeAnswer(answer: Answer): unknown {
  if (answer.kind === 'records') return answer.records.map(({ data }) => presentData(data));
  if (answer.kind === 'nodata' || answer.kind === 'nxdomain') return `${answer.kind} ${answer.soa?.name}`;
  return answer.kind;
}

const balancer = (...ingress: readonly object[]) => ({ status: { loadBalancer: { ingress } } });
const service = (name: string, more: object) => ({
  metadata: { name, namespace: 'default' },
  spec: { type: 'LoadBalancer' },
  ...more,
});

describe('services', () => {
  it('have the name and the namespace, or the names of an annotation', async () => {
    const annotations = {
      'coredns.io/hostname': 'Shop.example.org, *.shop.example.org,bad_name.example.org',
    };
    const { gateway } = await make({
      services: [
        service('web', balancer({ ip: '192.0.2.1' }, { ip: '2001:db8::1' }, { ip: 'none' })),
        service('shop', {
          metadata: { name: 'shop', namespace: 'default', annotations },
          ...balancer({ ip: '192.0.2.2' }),
        }),
        { ...service('inner', balancer({ ip: '192.0.2.3' })), spec: { type: 'ClusterIP' } },
      ],
    });
    expect(describeAnswer(await ask(gateway, 'WEB.default.example.org.'))).toEqual(['192.0.2.1']);
    expect(describeAnswer(await ask(gateway, 'web.default.example.org.', 'AAAA'))).toEqual(['2001:db8::1']);
    expect(describeAnswer(await ask(gateway, 'shop.example.org.'))).toEqual(['192.0.2.2']);
    expect(describeAnswer(await ask(gateway, 'x.shop.example.org.'))).toEqual(['192.0.2.2']);
    expect(describeAnswer(await ask(gateway, 'shop.example.org.', 'AAAA'))).toBe('nodata example.org.');
    expect(describeAnswer(await ask(gateway, 'default.example.org.'))).toBe('nodata example.org.');
    expect(describeAnswer(await ask(gateway, 'shop.default.Example.org.'))).toBe('nxdomain Example.org.');
    expect(describeAnswer(await ask(gateway, 'inner.default.example.org.'))).toBe('nxdomain example.org.');
    expect(describeAnswer(await ask(gateway, 'bad_name.example.org.'))).toBe('nxdomain example.org.');
  });

  it('prefer external addresses, resolve names of load balancers, and may name their endpoints', async () => {
    const annotations = { 'k8s-gateway.dns/resolve-endpoints': 'true' };
    const { gateway, followed } = await make({
      services: [
        service('a', {
          spec: { type: 'LoadBalancer', externalIPs: ['192.0.2.9'] },
          ...balancer({ ip: '192.0.2.1' }),
        }),
        service('b', balancer({ hostname: 'lb.cloud.test', ip: '192.0.2.5' })),
        service('c', balancer({ hostname: 'loop.example.org' }, { hostname: 'gone.cloud.test' })),
        service('d', {
          metadata: { name: 'd', namespace: 'default', annotations },
          spec: { type: 'ClusterIP' },
        }),
      ],
      endpointslices: [
        {
          metadata: { namespace: 'default', name: 's', labels: { 'kubernetes.io/service-name': 'd' } },
          endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'], conditions: { ready: false } }],
        },
      ],
    });
    expect(describeAnswer(await ask(gateway, 'a.default.example.org.'))).toEqual(['192.0.2.9']);
    const query = makeQuery('b.default.example.org.');
    expect(describeAnswer(await gateway.handle(query, async () => PASSED))).toEqual(['192.0.2.77']);
    // What a resolver has said is not for readers to repeat.
    expect(query.isDerived).toBe(false);
    expect(describeAnswer(await ask(gateway, 'c.default.example.org.'))).toBe('nxdomain example.org.');
    expect(describeAnswer(await ask(gateway, 'd.default.example.org.'))).toEqual(['10.0.0.1']);
    expect(followed).toContain('endpointslices');
  });
});

it('follows endpoints only if a service asks for their addresses', async () => {
  const { followed } = await make({ services: [service('web', balancer({ ip: '192.0.2.1' }))] });
  expect(followed).toEqual(['ingresses', 'services']);
});

it('answers for routes by their gateways of the classes that count', async () => {
  const makeGateway = (name: string, gatewayClassName: string, value: string) => ({
    metadata: { name, namespace: 'infra' },
    spec: { gatewayClassName },
    status: { addresses: [{ value }, { type: 'Hostname', value: 'lb.cloud.test' }] },
  });
  const parentRefs = [
    { name: 'edge', namespace: 'infra' },
    { name: 'inner', namespace: 'infra' },
    { kind: 'Service', name: 'edge', namespace: 'infra' },
    { name: 'nowhere' },
  ];
  const { gateway } = await make(
    {
      gateways: [makeGateway('edge', 'public', '192.0.2.1'), makeGateway('inner', 'private', '192.0.2.2')],
      httproutes: [
        { metadata: { name: 'r' }, spec: { hostnames: ['*.api.example.org'], parentRefs } },
        {
          metadata: { name: 'i', labels: { 'k8s-gateway.dns/ignore': 'true' } },
          spec: { hostnames: ['hidden.example.org'], parentRefs },
        },
      ],
    },
    ['resources HTTPRoute', 'gatewayClasses public', 'ttl 5'],
  );
  expect(await ask(gateway, 'v1.api.example.org.')).toMatchObject({
    records: [{ data: { address: '192.0.2.1' }, ttl: 5 }, { data: { address: '192.0.2.77' } }],
  });
  expect(describeAnswer(await ask(gateway, 'a.b.api.example.org.'))).toBe('nxdomain example.org.');
  expect(describeAnswer(await ask(gateway, 'hidden.example.org.'))).toBe('nxdomain example.org.');
  // Names below it exist.
  expect(describeAnswer(await ask(gateway, 'api.example.org.'))).toBe('nodata example.org.');
});

it('answers for Ingresses of the classes that count, nodes, VirtualServers and each name of a DNSEndpoint', async () => {
  const ingress = (host: string, ingressClassName: string | undefined) => ({
    metadata: { name: host, namespace: 'default' },
    spec: { ingressClassName, rules: [{ host }, {}] },
    ...balancer({ ip: '192.0.2.1' }),
  });
  const { gateway } = await make(
    {
      ingresses: [ingress('a.example.org', 'nginx'), ingress('b.example.org', undefined)],
      nodes: [
        {
          status: {
            addresses: [
              { type: 'Hostname', address: 'n1' },
              { type: 'ExternalIP', address: '192.0.2.8' },
              { type: 'InternalIP', address: '10.0.0.8' },
            ],
          },
        },
      ],
      virtualservers: [
        { spec: { host: 'vs.example.org' }, status: { externalEndpoints: [{ ip: '192.0.2.6' }] } },
      ],
      dnsendpoints: [
        {
          spec: {
            endpoints: [
              { dnsName: 'x.example.org', recordType: 'A', targets: ['192.0.2.4'] },
              { dnsName: 'y.example.org', recordType: 'TXT', targets: ['say "hé"'] },
            ],
          },
        },
      ],
    },
    [
      'resources Ingress DNSEndpoint Node VirtualServer Nonsense',
      'ingressClasses nginx',
      'nodeAddressType ExternalIP',
    ],
  );
  expect(describeAnswer(await ask(gateway, 'a.example.org.'))).toEqual(['192.0.2.1']);
  expect(describeAnswer(await ask(gateway, 'b.example.org.'))).toBe('nxdomain example.org.');
  expect(describeAnswer(await ask(gateway, 'n1.example.org.'))).toEqual(['192.0.2.8']);
  expect(describeAnswer(await ask(gateway, 'vs.example.org.'))).toEqual(['192.0.2.6']);
  expect(describeAnswer(await ask(gateway, 'x.example.org.'))).toEqual(['192.0.2.4']);
  expect(describeAnswer(await ask(gateway, 'x.example.org.', 'TXT'))).toBe('nodata example.org.');
  expect(describeAnswer(await ask(gateway, 'y.example.org.'))).toBe('nodata example.org.');
  expect(describeAnswer(await ask(gateway, 'y.example.org.', 'TXT'))).toEqual(['"say \\"h\\195\\169\\""']);
});

it('has SOA, NS with addresses, and the name of the server', async () => {
  const server = { metadata: { name: 'dns1', namespace: 'kube-system' }, spec: { type: 'LoadBalancer' } };
  const { gateway } = await make({ services: [{ ...server, ...balancer({ ip: '192.0.2.53' }) }] }, [
    'secondary dns2.kube-system',
  ]);
  expect(describeAnswer(await ask(gateway, 'example.org.', 'SOA'))).toEqual([
    'dns1.kube-system.example.org. hostmaster.dns1.kube-system.example.org. 12345 7200 1800 86400 60',
  ]);
  expect(await ask(gateway, 'example.org.', 'NS')).toMatchObject({
    records: [
      { data: { target: 'dns1.kube-system.example.org.' } },
      { data: { target: 'dns2.kube-system.example.org.' } },
    ],
    additionals: [{ name: 'dns1.kube-system.example.org.', data: { address: '192.0.2.53' } }],
  });
  expect(describeAnswer(await ask(gateway, 'dns1.kube-system.example.org.'))).toEqual(['192.0.2.53']);
  expect(describeAnswer(await ask(gateway, 'dns1.kube-system.example.org.', 'AAAA'))).toBe(
    'nodata example.org.',
  );
  expect(describeAnswer(await ask(gateway, 'x.dns1.kube-system.example.org.'))).toBe('nxdomain example.org.');
  expect(describeAnswer(await ask(gateway, 'example.org.'))).toBe('nodata example.org.');
  expect(describeAnswer(await ask(gateway, 'kube-system.example.org.'))).toBe('nodata example.org.');
  expect(describeAnswer(await ask(gateway, 'none.example.org.', 'MX'))).toBe('nodata example.org.');
});

it('passes on unknown names of zones that fall through, and SERVFAILs until all kinds are listed', async () => {
  const { gateway, set } = await make({ services: [] }, ['fallthrough b.example.org']);
  expect(await ask(gateway, 'x.b.example.org.')).toBe(PASSED);
  expect(await ask(gateway, 'x.c.test.')).toBe(PASSED);
  expect(describeAnswer(await ask(gateway, 'x.example.org.'))).toBe('nxdomain example.org.');
  set('services', [service('b', balancer({ ip: '192.0.2.1' }))]);
  expect(describeAnswer(await ask(gateway, 'b.default.example.org.'))).toEqual(['192.0.2.1']);
  const listing = await make({}, [], 'listing');
  expect(await ask(listing.gateway, 'x.example.org.')).toMatchObject({ kind: 'servfail' });
});

it.each([
  [{}],
  [{ metadata: 5, spec: [], status: null }],
  [
    {
      spec: { rules: [null, 7, { host: {} }], hostnames: 'x', parentRefs: {}, endpoints: [null] },
      status: { loadBalancer: { ingress: [1, null] }, addresses: [[]] },
    },
  ],
])('reads objects of any shape: %j', async (object) => {
  const all = ['ingresses', 'services', 'httproutes', 'gateways', 'dnsendpoints', 'nodes', 'virtualservers'];
  const { gateway } = await make(Object.fromEntries(all.map((resource) => [resource, [object]])), [
    'resources HTTPRoute Ingress Service DNSEndpoint Node VirtualServer',
  ]);
  expect(describeAnswer(await ask(gateway, 'x.example.org.'))).toBe('nxdomain example.org.');
});

describe('options', () => {
  it('are read', () => {
    expect(
      options(
        'kubeconfig config other',
        'serviceLabelSelectors a=b c',
        'serviceLabelSelectors d',
        'fallthrough',
        'apex NS1.Infra.',
      ),
    ).toMatchObject({
      kubeconfig: { file: '/etc/config', context: 'other' },
      serviceSelectors: ['a=b', 'c', 'd'],
      fallthrough: ['.'],
      apex: 'ns1.infra',
      zones: ['example.org.'],
    });
  });

  it.each([
    ['ttl 3601', 'ttl must be in range [0, 3600]: 3601'],
    ['ttl -1', 'ttl must be in range [0, 3600]: -1'],
    ['apex', "Wrong argument count or unexpected line ending after 'apex'"],
    ['nodeAddressType x', "nodeAddressType must be 'InternalIP' or 'ExternalIP', got: x"],
    ['upstream', "Unknown property 'upstream'"],
  ])('refuse %s', (line, message) => {
    expect(() => options(line)).toThrow(message);
  });
});

it('keeps the addresses of a host for their time to live', async () => {
  let now = 0;
  let asked = 0;
  const resolver = {
    resolve4: async () => {
      asked += 1;
      return [{ address: '192.0.2.1', ttl: 20 }];
    },
    resolve6: async () => Promise.reject(new Error('ESERVFAIL')),
    cancel() {},
  };
  const hosts = new HostAddresses(resolver, () => now);
  expect(await Promise.all([hosts.of('a.test'), hosts.of('a.test')])).toEqual([['192.0.2.1'], ['192.0.2.1']]);
  now = 19_999;
  await hosts.of('a.test');
  expect(asked).toBe(1);
  now = 20_000;
  await hosts.of('a.test');
  expect(asked).toBe(2);
});
