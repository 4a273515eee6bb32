import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { addresses, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import type { RestorableId } from '@portolan/kernel/deviations/table.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { describe, expect, it } from 'vitest';
import type { EndpointsObject, ServiceObject } from '../../objects/objects.ts';
import { Kubernetes } from '../kubernetes/kubernetes-plugin.ts';
import type { KubernetesOptions } from '../kubernetes/options.ts';
import { K8sExternal } from './k8s-external-plugin.ts';
import type { K8sExternalOptions } from './options.ts';

const key = (name: string) => toKey(parseName(name));

const KUBERNETES: KubernetesOptions = {
  kind: 'directive',
  zones: [key('cluster.local.')],
  primaryZone: key('cluster.local.'),
  api: { endpoint: undefined, tls: undefined, kubeconfig: undefined, qps: 0, burst: 0, maxInflight: 0 },
  pods: 'disabled',
  endpointPodNames: false,
  namespaces: [],
  namespaceLabels: undefined,
  labels: undefined,
  ttl: 30,
  hasEndpoints: true,
  ignoresEmptyService: false,
  zonal: false,
  multicluster: [],
  fallthrough: [],
  startupTimeout: 5000,
};

const OPTIONS: K8sExternalOptions = {
  zones: [key('ext.example.'), key('113.0.203.in-addr.arpa.')],
  apex: 'dns',
  ttl: 5,
  hasEndpoints: false,
  fallthrough: [],
};

const HTTP = { name: 'http', protocol: 'TCP', port: 80 } as const;
const HTTPS = { name: 'https', protocol: 'TCP', port: 443 } as const;

function service(
  name: string,
  external: readonly string[],
  more: Partial<ServiceObject> = {},
): ServiceObject {
  const address = { kind: 'clusterIPs', addresses: ['10.96.0.1'] } as const;
  return { kind: 'Service', namespace: 'edge', name, address, ports: [HTTP, HTTPS], external, ...more };
}

const SERVICES: readonly ServiceObject[] = [
  service('lb', ['203.0.113.10', '203.0.113.11', '2001:db8::1']),
  service('named', ['lb.cloud.example'], { ports: [HTTP] }),
  service('mixed', ['lb.cloud.example', '203.0.113.12', 'not..a name'], { ports: [] }),
  service('pending', []),
  service('peers', [], { address: { kind: 'headless' }, ports: [HTTP] }),
];

const PEERS: EndpointsObject = {
  kind: 'Endpoints',
  namespace: 'edge',
  name: 'peers-1',
  service: 'peers',
  groups: [
    {
      addresses: [
        { address: '10.1.0.1', hostname: 'one' },
        { address: 'fd00::2', hostname: undefined },
      ],
      ports: [HTTP],
    },
  ],
};

/** Names and addresses of a load balancer that others know. */
const others = ({ question }: ReturnType<typeof makeQuery>): Answer =>
  question.type === 1 ? addresses(question.name, '198.51.100.7') : { kind: 'refused' };

interface Settings {
  readonly options?: Partial<K8sExternalOptions>;
  readonly kubernetes?: Partial<KubernetesOptions>;
  readonly restored?: readonly RestorableId[];
  readonly isListed?: boolean;
}

function serving({ options, kubernetes, restored = [], isListed = true }: Settings = {}) {
  const clock = new ManualClock();
  const table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20, seed: 4711 });
  const parts = { clock, log: silentLog, table, chain: others, restored: new Set(restored) };
  const cluster = new Kubernetes(
    { ...KUBERNETES, ...kubernetes },
    // No metrics are made before the start.
    {
      ...parts,
      metrics: {} as MetricRegistry,
      ownAddresses: ['192.0.2.1'],
      environment: {},
      needs: ['external'],
    },
  );
  const changes: string[] = [];
  const plugin = new K8sExternal(
    { ...OPTIONS, ...options },
    { ...parts, find: () => cluster as never, onChange: (zone) => changes.push(zone) },
  );
  plugin.start();
  const { exposed } = cluster;
  if (exposed === undefined) throw new TypeError('nothing is exposed');
  const { services, endpoints, namespaces } = exposed.cluster;
  const observed = exposed.services.observe(services);
  const list = (listed: readonly ServiceObject[]) => {
    observed.listStarted();
    for (const object of listed) observed.upsert(object);
    observed.listCompleted();
    exposed.cluster.settle();
  };
  for (const sink of [endpoints, namespaces]) sink.listStarted();
  endpoints.upsert(PEERS);
  namespaces.upsert({ kind: 'Namespace', name: 'edge' });
  for (const sink of [endpoints, namespaces]) sink.listCompleted();
  if (isListed) list(SERVICES);
  const ask = async (name: string, type = 'A') =>
    tell(await plugin.handler.handle(makeQuery(name, type), () => ({ kind: 'refused' })));
  return { ask, list, observed, plugin, clock, changes };
}

function tell(answer: Answer): readonly string[] {
  if (answer.kind === 'records') return [...answer.records, ...answer.additionals].map(presentRecord);
  if (answer.kind !== 'nodata' && answer.kind !== 'nxdomain') return [answer.kind];
  return [answer.kind, answer.soa?.name ?? ''];
}

describe('a service', () => {
  it('has its external addresses, each once', async () => {
    const { ask } = serving();
    expect(await ask('LB.edge.ext.example.')).toEqual([
      'LB.edge.ext.example. 5 IN A 203.0.113.10',
      'LB.edge.ext.example. 5 IN A 203.0.113.11',
    ]);
    expect(await ask('lb.edge.ext.example.', 'AAAA')).toEqual(['lb.edge.ext.example. 5 IN AAAA 2001:db8::1']);
    expect(await ask('lb.edge.ext.example.', 'TXT')).toEqual(['nodata', 'ext.example.']);
  });

  it('has service records with the TTL of kubernetes, whose weights count each address', async () => {
    const { ask } = serving();
    expect(await ask('_https._tcp.lb.edge.ext.example.', 'SRV')).toEqual([
      '_https._tcp.lb.edge.ext.example. 30 IN SRV 0 33 443 lb.edge.ext.example.',
      'lb.edge.ext.example. 5 IN A 203.0.113.10',
      'lb.edge.ext.example. 5 IN A 203.0.113.11',
      'lb.edge.ext.example. 5 IN AAAA 2001:db8::1',
    ]);
    expect(await ask('_nosuch._tcp.lb.edge.ext.example.', 'SRV')).toEqual(['nxdomain', 'ext.example.']);
  });

  it('is an alias of the name of its load balancer', async () => {
    const { ask } = serving();
    expect(await ask('named.edge.ext.example.')).toEqual([
      'named.edge.ext.example. 30 IN CNAME lb.cloud.example.',
      'lb.cloud.example. 30 IN A 198.51.100.7',
    ]);
    expect(await ask('named.edge.ext.example.', 'SRV')).toEqual([
      'named.edge.ext.example. 30 IN SRV 0 100 80 lb.cloud.example.',
      'lb.cloud.example. 30 IN A 198.51.100.7',
    ]);
  });

  it('has addresses and no alias where it has both, but not with -compat', async () => {
    expect(await serving().ask('mixed.edge.ext.example.')).toEqual([
      'mixed.edge.ext.example. 5 IN A 203.0.113.12',
    ]);
    expect(await serving({ restored: ['external-aliases'] }).ask('mixed.edge.ext.example.')).toHaveLength(3);
    expect(await serving().ask('mixed.edge.ext.example.', 'SRV')).toEqual(['nodata', 'ext.example.']);
  });

  it.each([
    ['edge.ext.example.', 'nodata'],
    ['nosuch.ext.example.', 'nxdomain'],
    ['pending.edge.ext.example.', 'nxdomain'],
    ['nosuch.edge.ext.example.', 'nxdomain'],
    ['a.b.c.lb.edge.ext.example.', 'nxdomain'],
    ['peers.edge.ext.example.', 'nxdomain'],
  ])('%s: %s', async (name, kind) => {
    expect(await serving().ask(name)).toEqual([kind, 'ext.example.']);
  });

  it('is hidden with its namespace', async () => {
    const { ask } = serving({ kubernetes: { namespaces: ['shop'] } });
    expect(await ask('lb.edge.ext.example.')).toEqual(['nxdomain', 'ext.example.']);
    expect(await ask('10.113.0.203.in-addr.arpa.', 'PTR')).toEqual(['nodata', '113.0.203.in-addr.arpa.']);
  });

  it('has its name in the first zone for its addresses', async () => {
    const { ask } = serving();
    expect(await ask('11.113.0.203.in-addr.arpa.', 'PTR')).toEqual([
      '11.113.0.203.in-addr.arpa. 5 IN PTR lb.edge.ext.example.',
    ]);
    expect(await ask('99.113.0.203.in-addr.arpa.', 'PTR')).toEqual(['nxdomain', '113.0.203.in-addr.arpa.']);
  });

  it('without addresses of its own has those of its endpoints, if it is headless', async () => {
    const { ask } = serving({ options: { hasEndpoints: true } });
    expect(await ask('peers.edge.ext.example.')).toEqual(['peers.edge.ext.example. 5 IN A 10.1.0.1']);
    expect(await ask('one.peers.edge.ext.example.')).toEqual(['one.peers.edge.ext.example. 5 IN A 10.1.0.1']);
    expect(await ask('_http._tcp.peers.edge.ext.example.', 'SRV')).toEqual([
      '_http._tcp.peers.edge.ext.example. 30 IN SRV 0 50 80 one.peers.edge.ext.example.',
      '_http._tcp.peers.edge.ext.example. 30 IN SRV 0 50 80 fd00--2.peers.edge.ext.example.',
      'one.peers.edge.ext.example. 5 IN A 10.1.0.1',
      'fd00--2.peers.edge.ext.example. 5 IN AAAA fd00::2',
    ]);
  });
});

describe('the zone', () => {
  it('has a name server', async () => {
    const { ask } = serving({ options: { apex: 'ns' } });
    expect(await ask('ext.example.', 'NS')).toEqual([
      'ext.example. 5 IN NS ns1.ns.ext.example.',
      'ns1.ns.ext.example. 5 IN A 192.0.2.1',
    ]);
    expect(await ask('ns1.ns.ext.example.')).toEqual(['ns1.ns.ext.example. 5 IN A 192.0.2.1']);
    expect(await ask('ns1.ns.ext.example.', 'AAAA')).toEqual(['nodata', 'ext.example.']);
    expect(await ask('ns.ext.example.')).toEqual(['nodata', 'ext.example.']);
    expect(await ask('ns2.ns.ext.example.')).toEqual(['nxdomain', 'ext.example.']);
    expect(await ask('ext.example.')).toEqual(['nodata', 'ext.example.']);
    expect((await ask('ext.example.', 'SOA'))[0]).toContain(
      'SOA ns1.ns.ext.example. hostmaster.ns.ext.example.',
    );
  });

  it('passes on missing names where it is to, and denies none before services are listed', async () => {
    const options = { fallthrough: [key('edge.ext.example.')] };
    const { ask } = serving({ options });
    expect(await ask('nosuch.edge.ext.example.')).toEqual(['refused']);
    expect(await ask('nosuch.other.ext.example.')).toEqual(['nxdomain', 'ext.example.']);
    expect(await serving({ options, isListed: false }).ask('lb.edge.ext.example.')).toEqual(['servfail']);
    const strict = serving({ options, isListed: false, restored: ['external-unlisted'] });
    expect(await strict.ask('lb.edge.ext.example.')).toEqual(['refused']);
  });

  it('has a later serial number after each change that it shows', async () => {
    const { ask, list, observed, clock, changes } = serving();
    const serial = async () => Number((await ask('ext.example.', 'SOA'))[0]?.split(' ')[6]);
    const first = await serial();
    list(SERVICES);
    expect(await serial()).toBe(first);
    observed.upsert(service('pending', ['203.0.113.50']));
    const second = await serial();
    expect(second).toBeGreaterThan(first);
    expect(await ask('pending.edge.ext.example.')).toHaveLength(1);
    observed.upsert(service('pending', ['203.0.113.50'], { ports: [HTTP] }));
    const third = await serial();
    expect(third).toBeGreaterThan(second);
    observed.remove('edge/pending');
    expect(await serial()).toBeGreaterThan(third);
    expect(await ask('pending.edge.ext.example.')).toEqual(['nxdomain', 'ext.example.']);
    list(SERVICES.slice(1));
    expect(await ask('lb.edge.ext.example.')).toEqual(['nxdomain', 'ext.example.']);
    expect(changes).toEqual([]);
    clock.advance(1000);
    expect(changes).toEqual(['ext.example.', '113.0.203.in-addr.arpa.']);
  });

  it('is transferred as it answers, with nothing beside an alias', () => {
    const { plugin } = serving({ options: { hasEndpoints: true } });
    const zone = plugin.zoneAt(key('ext.example.'));
    const lines = [...(zone?.records() ?? [])].map(presentRecord);
    expect(lines).toEqual([...new Set(lines)]);
    expect(lines).toContain('named.edge.ext.example. 30 IN CNAME lb.cloud.example.');
    expect(lines.filter((line) => line.startsWith('named.'))).toHaveLength(1);
    expect(lines).toContain('_http._tcp.named.edge.ext.example. 30 IN SRV 0 100 80 lb.cloud.example.');
    expect(lines).toContain('_https._tcp.lb.edge.ext.example. 30 IN SRV 0 33 443 lb.edge.ext.example.');
    expect(lines).toContain('fd00--2.peers.edge.ext.example. 5 IN AAAA fd00::2');
    expect(lines.slice(0, 2)).toEqual([
      'ext.example. 5 IN NS ns1.dns.ext.example.',
      'ns1.dns.ext.example. 5 IN A 192.0.2.1',
    ]);
    expect(plugin.zoneAt(key('other.example.'))).toBeUndefined();
  });
});
