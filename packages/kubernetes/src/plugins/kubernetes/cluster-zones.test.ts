import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { addresses, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import type { RestorableId } from '@portolan/kernel/deviations/table.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { describe, expect, it } from 'vitest';
import { coreDns } from '../../dialects/coredns/dialect.ts';
import type { ClusterObject, ServiceObject } from '../../objects/objects.ts';
import { Cluster } from '../../publish/cluster.ts';
import { ClusterZones } from './cluster-zones.ts';
import type { KubernetesOptions } from './options.ts';

const key = (name: string) => toKey(parseName(name));

function service(namespace: string, name: string, address: ServiceObject['address']): ServiceObject {
  const ports = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
  return { kind: 'Service', namespace, name, address, ports };
}

const clusterIp = (address: string) => ({ kind: 'clusterIPs', addresses: [address] }) as const;

const OBJECTS: readonly ClusterObject[] = [
  { kind: 'Namespace', name: 'shop' },
  { kind: 'Namespace', name: 'data' },
  service('shop', 'cart', clusterIp('10.96.0.10')),
  service('data', 'db', clusterIp('10.96.0.11')),
  service('shop', 'ext', { kind: 'externalName', name: 'www.example.com' }),
  service('shop', 'alias', { kind: 'externalName', name: 'cart.shop.svc.cluster.local' }),
  service('shop', 'lost', { kind: 'externalName', name: 'nosuch.shop.svc.cluster.local' }),
];

const OPTIONS: KubernetesOptions = {
  kind: 'directive',
  zones: [key('cluster.local.'), key('in-addr.arpa.')],
  primaryZone: key('cluster.local.'),
  api: { endpoint: undefined, tls: undefined, kubeconfig: undefined, qps: 0, burst: 0, maxInflight: 0 },
  pods: 'disabled',
  endpointPodNames: false,
  namespaces: [],
  namespaceLabels: undefined,
  labels: undefined,
  ttl: 5,
  hasEndpoints: true,
  ignoresEmptyService: false,
  zonal: false,
  multicluster: [],
  fallthrough: [],
  startupTimeout: 5000,
};

interface Asked {
  /** What others say about names outside the zones. Default: an address. */
  readonly outside?: (name: string) => Answer;
  readonly isListed?: boolean;
  readonly restored?: readonly RestorableId[];
  readonly options?: Partial<KubernetesOptions>;
  readonly objects?: readonly ClusterObject[];
}

const anAddress = (name: string) => addresses(name, '192.0.2.80');

function answering({ options = {}, objects = OBJECTS, outside = anAddress, ...more }: Asked = {}) {
  const { isListed = true, restored = [] } = more;
  const all = { ...OPTIONS, ...options };
  const table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20, seed: 4711 });
  const cluster = new Cluster(
    {
      domain: OPTIONS.primaryZone,
      dialect: coreDns,
      pods: all.pods,
      ttl: all.ttl,
      hasEndpoints: all.hasEndpoints,
      ignoresEmptyServices: all.ignoresEmptyService,
      reverseZones: [key('in-addr.arpa.')],
      ownAddresses: [],
      publication: table.definePublication(),
    },
    table,
    new ManualClock(),
    silentLog,
  );
  const { services, endpoints, namespaces } = cluster;
  for (const store of [services, endpoints, namespaces]) store.listStarted();
  for (const object of objects) {
    if (object.kind === 'Service') services.upsert(object);
    else if (object.kind === 'Namespace') namespaces.upsert(object);
  }
  if (isListed) for (const store of [services, endpoints, namespaces]) store.listCompleted();
  cluster.settle();
  const zones: ClusterZones = new ClusterZones({
    options: all,
    cluster,
    domain: OPTIONS.primaryZone,
    restored: new Set(restored),
    chain: (query) => zones.handle(query, () => outside(query.question.name)),
  });
  const ask = async (name: string, type = 'A') =>
    tell(await zones.handle(makeQuery(name, type), () => ({ kind: 'refused' })));
  return Object.assign(ask, { zones, cluster });
}

function tell(answer: Answer): readonly string[] {
  if (answer.kind === 'message') return answer.authorities.map(presentRecord);
  if (answer.kind === 'records') return [...answer.records, ...answer.additionals].map(presentRecord);
  if (answer.kind !== 'nodata' && answer.kind !== 'nxdomain') return [answer.kind];
  return [answer.kind, answer.soa?.name ?? ''];
}

it('answers for the cluster, and denies what it does not have', async () => {
  const ask = answering();
  expect(await ask('cart.shop.svc.cluster.local.')).toEqual([
    'cart.shop.svc.cluster.local. 5 IN A 10.96.0.10',
  ]);
  expect(await ask('nosuch.shop.svc.cluster.local.')).toEqual(['nxdomain', 'cluster.local.']);
  expect(await ask('10.0.96.10.in-addr.arpa.', 'PTR')).toEqual([
    '10.0.96.10.in-addr.arpa. 5 IN PTR cart.shop.svc.cluster.local.',
  ]);
  expect(await ask('other.test.')).toEqual(['refused']);
  expect(await ask('cluster.local.', 'AXFR')).toEqual(['refused']);
});

it('passes on what does not exist, within the zones of fallthrough', async () => {
  const ask = answering({ options: { fallthrough: [key('in-addr.arpa.'), key('svc.cluster.local.')] } });
  expect(await ask('nosuch.shop.svc.cluster.local.')).toEqual(['refused']);
  expect(await ask('nosuch.cluster.local.')).toEqual(['nxdomain', 'cluster.local.']);
  expect(await ask('96.10.in-addr.arpa.', 'PTR')).toEqual(['refused']);
  expect(await ask('10.in-addr.arpa.', 'SOA')).toEqual(['nodata', 'in-addr.arpa.']);
});

it('gives an ExternalName alone where the server of its target refuses or fails', async () => {
  for (const kind of ['refused', 'servfail'] as const)
    expect(await answering({ outside: () => ({ kind }) })('ext.shop.svc.cluster.local.')).toEqual([
      'ext.shop.svc.cluster.local. 5 IN CNAME www.example.com.',
    ]);
});

it('passes on no name of a cluster that was not listed, unless it is to do as CoreDNS', async () => {
  const unlisted = { isListed: false, options: { fallthrough: [key('cluster.local.')] } };
  expect(await answering(unlisted)('nosuch.shop.svc.cluster.local.')).toEqual(['servfail']);
  const passing = answering({ ...unlisted, restored: ['unreached-cluster'] });
  expect(await passing('nosuch.shop.svc.cluster.local.')).toEqual(['refused']);
});

it.each([
  ['cluster.local.', 'TXT', 'nodata', 'nxdomain'],
  ['cluster.local.', 'A', 'nodata', 'nodata'],
  ['shop.svc.cluster.local.', 'TXT', 'nodata', 'nodata'],
  ['dns-version.cluster.local.', 'A', 'nodata', 'nxdomain'],
  ['_tcp.cart.shop.svc.cluster.local.', 'SRV', 'nodata', 'nxdomain'],
  ['nosuch.shop.svc.cluster.local.', 'SOA', 'nxdomain', 'nodata'],
  ['10.0.96.10.in-addr.arpa.', 'A', 'nodata', 'nxdomain'],
  ['96.10.in-addr.arpa.', 'PTR', 'nodata', 'nxdomain'],
])('says of %s %s: %s, and %s where it is to do as CoreDNS', async (name, type, said, strict) => {
  expect((await answering()(name, type))[0]).toBe(said);
  const id = type === 'SOA' ? 'type-has-no-say' : 'name-exists';
  expect((await answering({ restored: [id] })(name, type))[0]).toBe(strict);
  const other = type === 'SOA' ? 'name-exists' : 'type-has-no-say';
  expect((await answering({ restored: [other] })(name, type))[0]).toBe(said);
});

it('says of a cluster that was not listed what CoreDNS says, where it is to', async () => {
  const soa = (serial: number) =>
    `cluster.local. 5 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. ${serial} 7200 1800 86400 5`;
  const [usual, strict] = ([[], ['not-listed-yet']] as const).map((restored) =>
    answering({ isListed: false, restored }),
  );
  expect(await usual?.('cluster.local.', 'SOA')).not.toEqual([soa(0)]);
  expect(await strict?.('cluster.local.', 'SOA')).toEqual([soa(0)]);
  expect(await usual?.('cart.svc.cluster.local.')).toEqual(['servfail']);
  expect(await strict?.('cart.svc.cluster.local.')).toEqual([soa(0)]);
});

it('follows aliases inside its zones itself, and others through the server block', async () => {
  const ask = answering();
  expect(await ask('ext.shop.svc.cluster.local.')).toEqual([
    'ext.shop.svc.cluster.local. 5 IN CNAME www.example.com.',
    'www.example.com. 30 IN A 192.0.2.80',
  ]);
  expect(await ask('alias.shop.svc.cluster.local.')).toEqual([
    'alias.shop.svc.cluster.local. 5 IN CNAME cart.shop.svc.cluster.local.',
    'cart.shop.svc.cluster.local. 5 IN A 10.96.0.10',
  ]);
  expect(await ask('lost.shop.svc.cluster.local.')).toEqual(['nodata', 'cluster.local.']);
});

it('has the same names in several zones, and answers pointers with the first', async () => {
  const zones = [key('cluster.local.'), key('other.zone.'), key('in-addr.arpa.')];
  const ask = answering({ options: { zones } });
  expect(await ask('cart.shop.svc.other.zone.', 'SRV')).toEqual([
    'cart.shop.svc.other.zone. 5 IN SRV 0 100 80 cart.shop.svc.other.zone.',
    'cart.shop.svc.other.zone. 5 IN A 10.96.0.10',
  ]);
  expect(await ask('nosuch.other.zone.')).toEqual(['nxdomain', 'other.zone.']);
});

it('shows the namespaces alone that it is told', async () => {
  const ask = answering({ options: { namespaces: ['shop'] } });
  expect(await ask('cart.shop.svc.cluster.local.')).toHaveLength(1);
  expect(await ask('db.data.svc.cluster.local.')).toEqual(['nxdomain', 'cluster.local.']);
  expect(await ask('data.svc.cluster.local.')).toEqual(['nxdomain', 'cluster.local.']);
  expect(await ask('11.0.96.10.in-addr.arpa.', 'PTR')).toEqual(['nxdomain', 'in-addr.arpa.']);
});

it('hides namespaces whose labels do not match, and names their addresses all the same', async () => {
  const objects = OBJECTS.filter((object) => object.kind !== 'Namespace' || object.name === 'shop');
  const ask = answering({ options: { namespaceLabels: 'tier=front' }, objects });
  expect(await ask('db.data.svc.cluster.local.')).toEqual(['nxdomain', 'cluster.local.']);
  expect(await ask('11.0.96.10.in-addr.arpa.', 'PTR')).toHaveLength(1);
});

it('has no names for services without endpoints, where it is told so', async () => {
  const ask = answering({ options: { ignoresEmptyService: true } });
  expect(await ask('cart.shop.svc.cluster.local.')).toEqual(['nxdomain', 'cluster.local.']);
});

describe('a transferred zone', () => {
  const transferred = (asked?: Asked, origin = 'cluster.local.') => {
    const zone = answering(asked).zones.zoneAt(key(origin), '192.0.2.53');
    return zone && Array.from(zone.records(), presentRecord);
  };

  it('has the records of all services that are shown', () => {
    const records = transferred({ options: { namespaces: ['shop'] } });
    expect(records?.toSorted()).toEqual([
      '_http._tcp.cart.shop.svc.cluster.local. 5 IN SRV 0 100 80 cart.shop.svc.cluster.local.',
      'alias.shop.svc.cluster.local. 5 IN CNAME cart.shop.svc.cluster.local.',
      'cart.shop.svc.cluster.local. 5 IN A 10.96.0.10',
      'cart.shop.svc.cluster.local. 5 IN SRV 0 100 80 cart.shop.svc.cluster.local.',
      'cluster.local. 5 IN NS ns.dns.cluster.local.',
      'ext.shop.svc.cluster.local. 5 IN CNAME www.example.com.',
      'lost.shop.svc.cluster.local. 5 IN CNAME nosuch.shop.svc.cluster.local.',
    ]);
    expect(transferred()?.some((record) => record.startsWith('db.data.svc.'))).toBe(true);
  });

  it('has the names of a second zone', () => {
    const options = { zones: [...OPTIONS.zones, key('other.test.')] };
    expect(transferred({ options }, 'other.test.')).toContain('cart.shop.svc.other.test. 5 IN A 10.96.0.10');
  });

  it('does not exist below its origin, in the reverse tree, or before the cluster is listed', () => {
    expect(transferred(undefined, 'svc.cluster.local.')).toBe(undefined);
    expect(transferred(undefined, 'in-addr.arpa.')).toBe(undefined);
    expect(transferred({ isListed: false })).toBe(undefined);
  });

  it('leaves out what is gone when its turn comes', () => {
    const { zones, cluster } = answering();
    const left: string[] = [];
    for (const record of zones.zoneAt(key('cluster.local.'), '192.0.2.53')?.records() ?? []) {
      cluster.services.remove('shop/cart');
      left.push(presentRecord(record));
    }
    expect(left.some((record) => record.startsWith('cart.shop.'))).toBe(false);
    expect(left.length).toBeGreaterThan(3);
  });

  it('has a later serial number after each change that follows a transfer, also within its second', () => {
    const { zones, cluster } = answering();
    const serials: (number | undefined)[] = [];
    let notified = 0;
    const unfollow = cluster.onChange(() => {
      notified += 1;
    });
    const change = (name: string) => {
      cluster.services.remove(name);
      cluster.settle();
      serials.push(zones.zoneAt(key('cluster.local.'), '192.0.2.53')?.serial);
    };
    const first = zones.zoneAt(key('cluster.local.'), '192.0.2.53');
    first?.records();
    change('shop/cart');
    // Nobody has taken the zone since.
    change('data/db');
    zones.zoneAt(key('cluster.local.'), '192.0.2.53')?.records();
    change('shop/ext');
    const serial = first?.serial ?? 0;
    expect(serials).toEqual([serial + 1, serial + 1, serial + 2]);
    expect(notified).toBe(3);
    unfollow();
    change('shop/alias');
    expect(notified).toBe(3);
  });
});
