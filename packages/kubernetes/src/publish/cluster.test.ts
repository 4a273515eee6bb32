import { parseName, toKey } from '@portolan/dns/name.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { describe, expect, it } from 'vitest';
import type { EndpointsObject, ServiceObject } from '../objects/objects.ts';
import { Cluster } from './cluster.ts';
import { findDialect } from './find-dialect.ts';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;

const service = (name: string, address: string): ServiceObject => ({
  kind: 'Service',
  namespace: 'blue',
  name,
  address: { kind: 'clusterIPs', addresses: [address] },
  ports: PORTS,
});

const slice = (of: string, ...addresses: readonly string[]): EndpointsObject => ({
  kind: 'Endpoints',
  namespace: 'blue',
  name: `${of}-1`,
  service: of,
  groups: [{ addresses: addresses.map((address) => ({ address, hostname: undefined })), ports: PORTS }],
});

function makeCluster() {
  const clock = new ManualClock();
  const table = new TableWriter({ readers: 0, reservation: 64 * 2 ** 20, seed: 4711 });
  const domain = toKey(parseName('cluster.local.'));
  const dialect = findDialect('coredns');
  const options = { domain, dialect, pods: 'disabled', ttl: 30, ownAddresses: [] } as const;
  const cluster = new Cluster(options, table, clock, silentLog);
  const has = (name: string) =>
    cluster.names.findStanding(toKey(parseName(`${name}.blue.svc.cluster.local.`))) !== undefined;
  return { cluster, has };
}

describe('a cluster', () => {
  it('has the names of a service as soon as the object arrives', () => {
    const { cluster, has } = makeCluster();
    cluster.services.listStarted();
    cluster.services.upsert(service('web', '10.96.0.1'));
    expect([has('web'), has('10-244-0-1.web')]).toEqual([true, false]);
    cluster.endpoints.upsert(slice('web', '10.244.0.1'));
    expect(has('10-244-0-1.web')).toBe(true);
  });

  it('answers by other options without its objects coming again', () => {
    const { cluster, has } = makeCluster();
    cluster.services.upsert(service('web', '10.96.0.1'));
    cluster.endpoints.listStarted();
    cluster.endpoints.listCompleted();
    const before = cluster.generation;
    cluster.change({ ttl: 30, ignoresEmptyServices: false });
    expect(cluster.generation).toBe(before);
    cluster.change({ ttl: 7, ignoresEmptyServices: false });
    const node = cluster.names.findStanding(toKey(parseName('web.blue.svc.cluster.local.')));
    expect(node?.sets.map(({ ttl }) => ttl)).toEqual([7, 7]);
    expect(cluster.names.findZone(toKey(parseName('cluster.local.')))?.soa.minimum).toBe(7);
    cluster.change({ ttl: 7, ignoresEmptyServices: true });
    expect(has('web')).toBe(false);
  });

  it('counts objects whose names cannot be labels, and removes them with the others', () => {
    const { cluster } = makeCluster();
    cluster.services.listStarted();
    cluster.services.upsert(service('web', '10.96.0.1'));
    cluster.services.upsert(service('Odd.Name', '10.96.0.2'));
    cluster.services.listCompleted();
    expect(cluster.services.count()).toBe(2);
    cluster.services.remove('blue/Odd.Name');
    expect(cluster.services.count()).toBe(1);
    cluster.services.listStarted();
    cluster.services.listCompleted();
    expect(cluster.services.count()).toBe(0);
  });

  it('gives back all memory of its records in the end', () => {
    const { cluster } = makeCluster();
    cluster.services.upsert(service('web', '10.96.0.1'));
    cluster.endpoints.upsert(slice('web', '10.244.0.1', '10.244.0.2', 'fd00::1'));
    cluster.namespaces.upsert({ kind: 'Namespace', name: 'blue' });
    cluster.pods.upsert({ kind: 'Pod', namespace: 'blue', name: 'web-1', addresses: ['10.244.0.1'] });
    for (const _ of cluster.clear());
    expect(cluster.state().addresses).toBe(0);
    expect(cluster.snapshot().count).toBe(0);
    expect(cluster.octets).toBe(0);
  });
});

describe('a cluster that is restored from a snapshot', () => {
  it('passes over lines that are no objects, and knows the others', () => {
    const { cluster, has } = makeCluster();
    const odd = ['', 'no JSON', '["constructor"]', '["S","__proto__"]', '{"__proto__":1}', 'null'];
    cluster.restoreLines([
      ...odd,
      '["S","blue","web",["10.96.0.1"],[]]',
      '["E"]',
      '["S","blue","shop",0,[]]',
    ]);
    cluster.settle();
    expect(has('web')).toBe(true);
    expect(cluster.snapshot().count).toBe(2);
  });
});
