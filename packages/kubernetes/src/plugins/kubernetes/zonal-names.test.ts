/**
 * Names that select the endpoints of a headless service by topology zone.
 */
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { EndpointZones } from '../../names/endpoint-zones.ts';
import { bothSinks } from '../../objects/both-sinks.ts';
import type { EndpointsObject, ServiceObject } from '../../objects/objects.ts';
import { AskableCluster, question } from './testing/askable-cluster.ts';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
const SERVICE: ServiceObject = {
  kind: 'Service',
  namespace: 'blue',
  name: 'db',
  address: { kind: 'headless' },
  ports: PORTS,
};
const PLAIN: ServiceObject = {
  ...SERVICE,
  name: 'web',
  address: { kind: 'clusterIPs', addresses: ['10.96.0.1'] },
};

function slice(name: string, zones: Readonly<Record<string, string | undefined>>): EndpointsObject {
  const addresses = Object.entries(zones).map(([address, zone]) => ({
    address,
    hostname: undefined,
    ...(zone !== undefined && { zone }),
  }));
  return { kind: 'Endpoints', namespace: 'blue', name, service: 'db', groups: [{ addresses, ports: PORTS }] };
}

let zones = new EndpointZones();
let cluster: AskableCluster;

beforeEach(() => {
  zones = new EndpointZones();
  cluster = new AskableCluster('coredns', { zones });
  zones.listStarted();
  for (const one of SLICES) zones.upsert(one);
  zones.listCompleted();
  cluster.list([SERVICE, PLAIN, { kind: 'Namespace', name: 'blue' }, ...SLICES]);
});

const SLICES = [
  slice('db-1', { '10.244.0.1': 'zone-a', '10.244.0.2': 'Zone-B', '10.244.0.3': undefined }),
  slice('db-2', { '10.244.1.1': 'corp.example.com', 'fd00::1': 'zone-a' }),
];
const ALL = ['10.244.0.1', '10.244.0.2', '10.244.0.3', '10.244.1.1'];

async function ask(below: string, type: number = TYPE.A) {
  const asked = question(`${below}.blue.svc.cluster.local.`, type);
  // Readers leave these names to the chain, and answer what it stored.
  expect(cluster.askTable(asked)?.header.rcode).not.toBe(RCODE.NOERROR);
  const { header, answers } = await cluster.askChain(asked);
  const found = answers.map(({ data }) => ('address' in data ? data.address : data.kind));
  return { rcode: header.rcode, found: found.sort() };
}

const records = (...found: readonly string[]) => ({ rcode: RCODE.NOERROR, found });
const NXDOMAIN = { rcode: RCODE.NXDOMAIN, found: [] };

describe('a name by zone', () => {
  it.each([
    ['zone-a.pin._zone.db', TYPE.A, records('10.244.0.1')],
    ['zone-a.pin._zone.db', TYPE.AAAA, records('fd00::1')],
    ['ZONE-B.pin._zone.db', TYPE.A, records('10.244.0.2')],
    ['zone-a.pin._zone.db', TYPE.SRV, records('SRV', 'SRV')],
    ['corp.example.com.pin._zone.db', TYPE.A, records('10.244.1.1')],
    ['zone-a.pin._zone.db', TYPE.TXT, records()],
    ['zone-x.pin._zone.db', TYPE.A, records()],
    ['zone-b.prefer._zone.db', TYPE.A, records('10.244.0.2')],
    ['zone-x.prefer._zone.db', TYPE.A, records(...ALL)],
    ['zone-a.other._zone.db', TYPE.A, NXDOMAIN],
    ['pin._zone.db', TYPE.A, NXDOMAIN],
    ['_zone.db', TYPE.A, NXDOMAIN],
    ['zone-a.pin._zone.web', TYPE.A, NXDOMAIN],
    ['zone-a.pin._zone.none', TYPE.A, NXDOMAIN],
  ])('%s, type %i', async (below, type, expected) => {
    expect(await ask(below, type)).toEqual(expected);
  });

  it('follows changes of slices, also where only a zone changes', async () => {
    const sink = bothSinks(cluster.cluster.endpoints, zones);
    const { generation } = cluster.cluster;
    sink.upsert(slice('db-1', { '10.244.0.1': 'zone-b', '10.244.0.2': 'zone-b', '10.244.0.3': undefined }));
    expect(cluster.cluster.generation).toBeGreaterThan(generation);
    expect(await ask('zone-a.pin._zone.db')).toEqual(records());
    expect(await ask('zone-b.pin._zone.db')).toEqual(records('10.244.0.1', '10.244.0.2'));
    sink.remove('blue/db-2');
    expect(await ask('corp.example.com.pin._zone.db')).toEqual(records());
    sink.listStarted();
    sink.listCompleted();
    expect(zones.count()).toBe(0);
    expect(await ask('zone-b.pin._zone.db')).toEqual(NXDOMAIN);
  });

  it('does not exist without the option', () => {
    const without = new AskableCluster('coredns');
    without.list([SERVICE, { kind: 'Namespace', name: 'blue' }, ...SLICES]);
    const asked = question('zone-a.pin._zone.db.blue.svc.cluster.local.', TYPE.A);
    expect(without.askTable(asked)?.header.rcode).toBe(RCODE.NXDOMAIN);
  });
});
