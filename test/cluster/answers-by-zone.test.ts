/**
 * Headless services have the endpoints in the zone of the client or on its node, for readers and chain alike, and as a plain model
 * of the rules says.
 */
import { type Message, RCODE, TYPE } from '@portolan/dns/types.ts';
import type {
  EndpointAddress,
  EndpointsObject,
  NodeRangesObject,
  ServiceObject,
  ServicePort,
} from '@portolan/kubernetes/objects/objects.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordMessage } from '../golden/recorded-answer.ts';

const HTTP: ServicePort = { name: 'http', protocol: 'TCP', port: 80 };
const DNS: ServicePort = { name: 'dns', protocol: 'UDP', port: 53 };

const node = (number: number, zone: string | undefined): NodeRangesObject => ({
  kind: 'NodeRanges',
  name: `node-${number}`,
  zone,
  ranges: [
    { address: `10.1.${number}.0`, prefix: 24 },
    { address: `fd00:${number}::`, prefix: 64 },
    { address: `192.0.2.${number}`, prefix: 32 },
  ],
});
const NODES = [node(1, 'zone-a'), node(2, 'zone-a'), node(3, 'zone-b'), node(4, undefined)];

interface Place {
  readonly zone?: string | undefined;
  readonly node?: string | undefined;
}

/** Where clients are, by their addresses. */
const CLIENTS: ReadonlyMap<string, Place> = new Map<string, Place>([
  ['10.1.1.7', { zone: 'zone-a', node: 'node-1' }],
  ['::ffff:10.1.2.7', { zone: 'zone-a', node: 'node-2' }],
  ['fd00:3::7', { zone: 'zone-b', node: 'node-3' }],
  ['192.0.2.4', { node: 'node-4' }],
  ['203.0.113.9', {}],
  ['fd00:9::1', {}],
]);

function follow(cluster: AskableCluster, nodes: readonly NodeRangesObject[]): void {
  const { nodes: sink } = cluster.cluster;
  sink?.listStarted();
  for (const one of nodes) sink?.upsert(one);
  sink?.listCompleted();
}

const prefering = (dialect: 'coredns' | 'kube-dns', ownNode?: string): AskableCluster =>
  new AskableCluster(dialect, { nodes: { prefersZone: true, ownNode, boundsEndpoints: false } });

const NAMES = ['db', '_http._tcp.db', '_dns._udp.db', 'http.tcp.db', 'a.db', 'web'];
const TYPES = [TYPE.A, TYPE.AAAA, TYPE.SRV];
const fullName = (name: string): string => `${name}.blue.svc.cluster.local.`;

function service(prefers: ServiceObject['prefers'], name = 'db'): ServiceObject {
  const address = { kind: 'headless' } as const;
  return { kind: 'Service', namespace: 'blue', name, address, ports: [HTTP], ...(prefers && { prefers }) };
}

function slice(name: string, addresses: readonly EndpointAddress[], ports = [HTTP]): EndpointsObject {
  return { kind: 'Endpoints', namespace: 'blue', name, service: 'db', groups: [{ addresses, ports }] };
}

/** The addresses of a family in an answer. */
const addressesIn = ({ answers }: Message): readonly string[] =>
  answers.flatMap(({ data }) => (data.kind === 'A' || data.kind === 'AAAA' ? [data.address] : [])).sort();

/** The rules of kube-proxy, plainly, for the endpoints of one family. */
function model(
  groups: readonly (readonly EndpointAddress[])[],
  prefers: ServiceObject['prefers'],
  client: Place,
): readonly string[] {
  const all = groups.flat();
  const listPlaces = (group: readonly EndpointAddress[], kind: 'zone' | 'node') => {
    const listHints = ({ hints }: EndpointAddress) => hints?.[`${kind}s`] ?? [];
    const areHinted = group.every((endpoint) => listHints(endpoint).length > 0);
    const own = (endpoint: EndpointAddress) => [endpoint[kind]].filter((word) => word !== undefined);
    return group.map((endpoint) => ({
      address: endpoint.address,
      areHinted,
      words: areHinted ? listHints(endpoint) : own(endpoint),
    }));
  };
  for (const kind of ['node', 'zone'] as const) {
    const wanted = client[kind];
    const placed = groups.flatMap((group) => listPlaces(group, kind));
    const isAsked = kind === 'zone' ? prefers !== undefined : prefers === 'node';
    const counts =
      placed.every(({ areHinted }) => areHinted) ||
      (isAsked && placed.every(({ words }) => words.length > 0));
    if (wanted === undefined || !counts) continue;
    const found = placed.filter(({ words }) => words.includes(wanted));
    if (found.length > 0) return [...new Set(found.map(({ address }) => address))].sort();
  }
  return [...new Set(all.map(({ address }) => address))].sort();
}

const maybe = <Value>(...values: readonly Value[]) => fc.constantFrom(undefined, ...values);
const arbitraryPreference = fc.constantFrom<ServiceObject['prefers'][]>(undefined, 'zone', 'zone', 'node');
const arbitraryHints = fc.record({
  zones: fc.subarray(['zone-a', 'zone-b', 'zone-c']),
  nodes: fc.subarray(['node-1', 'node-3']),
});
const arbitraryEndpoint = (size: number): fc.Arbitrary<EndpointAddress> =>
  fc
    .record({
      number: fc.integer({ min: 1, max: size }),
      isIpv4: fc.constantFrom(true, true, false),
      hostname: fc.constantFrom(undefined, undefined, 'a', 'b'),
      zone: fc.constantFrom('zone-a', 'zone-a', 'zone-b', 'zone-c', undefined),
      node: fc.constantFrom('node-1', 'node-2', 'node-3', undefined),
      hints: maybe(arbitraryHints, arbitraryHints).chain((hints) => hints ?? fc.constant(undefined)),
    })
    .map(({ number, isIpv4, hostname, zone, node, hints }) => ({
      address: isIpv4
        ? `10.9.${Math.floor(number / 200)}.${number % 200}`
        : `fd00:99::${number.toString(16)}`,
      hostname,
      ...(zone !== undefined && { zone }),
      ...(node !== undefined && { node }),
      ...(hints !== undefined && { hints }),
    }));

interface ArbitrarySlice {
  readonly endpoints: readonly EndpointAddress[];
  readonly ports: ServicePort[];
}

const arbitrarySlices = fc.array(
  fc.record<ArbitrarySlice>({
    // Half of all slices are of the kind that a cluster has: with a zone, and all with hints or none.
    endpoints: fc
      .tuple(fc.boolean(), fc.constantFrom(6, 6, 400))
      .chain(([isUsual, size]) =>
        fc
          .array(arbitraryEndpoint(size), { minLength: 1, maxLength: size > 6 ? 120 : 8 })
          .map((endpoints) =>
            isUsual
              ? endpoints.map(({ hints: _, ...rest }) => ({ zone: 'zone-a', node: 'node-2', ...rest }))
              : endpoints,
          ),
      ),
    ports: fc.subarray([HTTP, DNS], { minLength: 1 }),
  }),
  { minLength: 1, maxLength: 4 },
);

describe.each(['coredns', 'kube-dns'] as const)('%s: for any endpoints and any client', (dialect) => {
  it('readers, chain and model agree', { timeout: 60_000 }, async () => {
    let fewer = 0;
    let byTable = 0;
    await fc.assert(
      fc.asyncProperty(arbitrarySlices, arbitraryPreference, async (slices, prefers) => {
        const cluster = prefering(dialect);
        follow(cluster, NODES);
        const objects = slices.map(({ endpoints, ports }, index) => slice(`db-${index}`, endpoints, ports));
        cluster.list([service(prefers), { kind: 'Namespace', name: 'blue' }, ...objects]);
        for (const [client, place] of CLIENTS)
          for (const name of NAMES)
            for (const type of TYPES) {
              const asked = question(fullName(name), type);
              const chain = await cluster.askChain(asked, client);
              const table = cluster.askTable(asked, client);
              if (table !== undefined) {
                byTable += 1;
                expect(recordMessage(table)).toEqual(recordMessage(chain));
              }
              if (name !== 'db' || type === TYPE.SRV) continue;
              const isOfType = ({ address }: EndpointAddress) =>
                address.includes(':') === (type === TYPE.AAAA);
              const groups = slices.map(({ endpoints }) => endpoints.filter(isOfType));
              const present: readonly (readonly EndpointAddress[])[] = groups.filter(
                (group) => group.length > 0,
              );
              const expected = model(present, prefers, place);
              expect(addressesIn(chain)).toEqual(expected);
              if (expected.length < new Set(present.flat().map(({ address }) => address)).size) fewer += 1;
            }
      }),
      { numRuns: 25 },
    );
    expect(fewer).toBeGreaterThan(10);
    expect(byTable).toBeGreaterThan(300);
  });
});

const ENDPOINTS: readonly EndpointAddress[] = [
  { address: '10.9.0.1', hostname: undefined, zone: 'zone-a', node: 'node-1' },
  { address: '10.9.0.2', hostname: undefined, zone: 'zone-a', node: 'node-2' },
  { address: '10.9.0.3', hostname: undefined, zone: 'zone-b', node: 'node-3' },
];
const IN_A = '10.1.1.7';
const IN_B = '192.0.2.3';
const NOWHERE = '203.0.113.9';

function ask(cluster: AskableCluster, client: string, name = 'db', type: number = TYPE.A) {
  const answer = cluster.askTable(question(fullName(name), type), client);
  return answer && addressesIn(answer);
}

describe('a service with `trafficDistribution`', () => {
  const listed = (prefers: ServiceObject['prefers'], ownNode?: string) => {
    const cluster = prefering('coredns', ownNode);
    follow(cluster, NODES);
    cluster.list([service(prefers), slice('db', ENDPOINTS)]);
    return cluster;
  };

  it.each([
    ['zone', IN_A, ['10.9.0.1', '10.9.0.2']],
    ['zone', IN_B, ['10.9.0.3']],
    ['zone', NOWHERE, ['10.9.0.1', '10.9.0.2', '10.9.0.3']],
    ['node', IN_A, ['10.9.0.1']],
    [undefined, IN_A, ['10.9.0.1', '10.9.0.2', '10.9.0.3']],
  ] as const)('%s: a client at %s gets %j', (prefers, client, expected) => {
    expect(ask(listed(prefers), client)).toEqual(expected);
  });

  it('keeps the names of all endpoints', () => {
    expect(ask(listed('zone'), IN_A, '10-9-0-3.db')).toEqual(['10.9.0.3']);
  });

  it('follows nodes that come, move and go', () => {
    const cluster = listed('zone');
    const { nodes } = cluster.cluster;
    nodes?.upsert({ ...node(1, 'zone-b'), ranges: [{ address: '10.1.1.0', prefix: 24 }] });
    expect(ask(cluster, IN_A)).toEqual(['10.9.0.3']);
    expect(ask(cluster, '192.0.2.1')).toHaveLength(3);
    // Another node takes over its range, before it goes.
    nodes?.upsert({ ...node(5, 'zone-a'), ranges: [{ address: '10.1.1.0', prefix: 24 }] });
    nodes?.remove('node-1');
    expect(ask(cluster, IN_A)).toEqual(['10.9.0.1', '10.9.0.2']);
    nodes?.remove('node-5');
    expect(ask(cluster, IN_A)).toHaveLength(3);
    nodes?.listStarted();
    nodes?.listCompleted();
    expect(ask(cluster, IN_B)).toHaveLength(3);
  });

  it('takes the node of all clients from its name', () => {
    const cluster = listed('zone', 'node-3');
    for (const client of [IN_A, NOWHERE, 'fd00:9::1']) expect(ask(cluster, client)).toEqual(['10.9.0.3']);
    cluster.cluster.nodes?.remove('node-3');
    expect(ask(cluster, IN_A)).toHaveLength(3);
  });

  it('follows its endpoints: the last one of a zone gives way to all', () => {
    const cluster = listed('zone');
    cluster.upsert(slice('db', ENDPOINTS.slice(0, 2)));
    expect(ask(cluster, IN_B)).toEqual(['10.9.0.1', '10.9.0.2']);
    expect(cluster.askTable(question(fullName('db'), TYPE.A), IN_B)?.header.rcode).toBe(RCODE.NOERROR);
  });
});

describe('in a large service', () => {
  const SIZE = 2000;
  const large = Array.from({ length: SIZE / 100 }, (_, number) =>
    slice(
      `db-${number}`,
      Array.from({ length: 100 }, (_each, index) => ({
        address: `10.9.${number}.${index}`,
        hostname: undefined,
        zone: index % 3 === 0 ? 'zone-b' : 'zone-a',
      })),
    ),
  );
  const cluster = prefering('coredns');
  follow(cluster, NODES);
  cluster.list([service('zone'), ...large]);
  const isOfB = (address: string) => Number(address.split('.')[3]) % 3 === 0;

  it('every preferred endpoint may come first, and no other comes', () => {
    const firsts = new Set<string>();
    for (let turn = 0; turn < 300; turn += 1) {
      const answer = cluster.askTable(question(fullName('db'), TYPE.A), IN_B, 'udp');
      const found = answer?.answers.flatMap(({ data }) => (data.kind === 'A' ? [data.address] : [])) ?? [];
      expect(answer?.header.truncated).toBe(true);
      expect(found.length).toBeGreaterThan(20);
      expect(found.every(isOfB)).toBe(true);
      firsts.add(found[0] ?? '');
    }
    expect(firsts.size).toBeGreaterThan(100);
  });
});
