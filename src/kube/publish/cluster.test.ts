import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { TableWriter } from '../../table/writer.ts';
import { encodeName, parseName, toKey } from '../../wire/name.ts';
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

const endpoints = (of: string, address: string): EndpointsObject => ({
  kind: 'Endpoints',
  namespace: 'blue',
  name: `${of}-1`,
  service: of,
  groups: [{ addresses: [{ address, hostname: undefined }], ports: PORTS }],
});

function makeCluster() {
  const clock = new ManualClock();
  const table = new TableWriter({ readers: 0, reservation: 64 * 2 ** 20, seed: 4711 });
  const domain = toKey(parseName('cluster.local.'));
  const dialect = findDialect('coredns');
  const cluster = new Cluster(
    { domain, dialect, pods: 'disabled', ttl: 30, ownAddresses: [] },
    table,
    clock,
    silentLog,
  );
  const isPublished = (name: string) =>
    table.find(encodeName(toKey(parseName(`${name}.blue.svc.cluster.local.`)))) !== undefined;
  const quiet = async () => {
    do await nextTurn();
    while (cluster.state().waiting > 0);
  };
  return { clock, cluster, isPublished, quiet };
}

describe('a cluster that is listed for the first time', () => {
  it('publishes services as soon as their endpoints have come, and others when all have', async () => {
    const { cluster, isPublished, quiet } = makeCluster();
    cluster.services.listStarted();
    cluster.endpoints.listStarted();
    cluster.services.upsert(service('web', '10.96.0.1'));
    cluster.services.upsert(service('idle', '10.96.0.2'));
    await quiet();
    expect([isPublished('web'), isPublished('idle')]).toEqual([false, false]);
    cluster.endpoints.upsert(endpoints('web', '10.244.0.1'));
    cluster.settle();
    expect(isPublished('10-244-0-1.web')).toBe(true);
    cluster.endpoints.listCompleted();
    cluster.settle();
    expect(isPublished('idle')).toBe(true);
  });

  it('does not wait for endpoints that do not come', async () => {
    const { clock, cluster, isPublished, quiet } = makeCluster();
    cluster.services.listStarted();
    cluster.services.upsert(service('web', '10.96.0.1'));
    await quiet();
    expect(isPublished('web')).toBe(false);
    clock.advance(500);
    await quiet();
    expect(isPublished('web')).toBe(true);
    cluster.services.upsert(service('late', '10.96.0.2'));
    clock.advance(10);
    await quiet();
    expect(isPublished('late')).toBe(true);
  });

  it('waits for nothing where endpoints are not followed', async () => {
    const clock = new ManualClock();
    const table = new TableWriter({ readers: 0, reservation: 64 * 2 ** 20, seed: 4711 });
    const domain = toKey(parseName('cluster.local.'));
    const options = { domain, dialect: findDialect('coredns'), pods: 'disabled', ttl: 30 } as const;
    const cluster = new Cluster(
      { ...options, ownAddresses: [], hasEndpoints: false },
      table,
      clock,
      silentLog,
    );
    cluster.services.listStarted();
    cluster.services.upsert(service('web', '10.96.0.1'));
    do await nextTurn();
    while (cluster.state().waiting > 0);
    expect(table.find(encodeName(toKey(parseName('web.blue.svc.cluster.local.'))))).toBeDefined();
  });
});

describe('a cluster that is restored from a snapshot', () => {
  it('passes over lines that are no objects, and knows the others', () => {
    const { cluster, isPublished } = makeCluster();
    const odd = ['', 'no JSON', '["constructor"]', '["S","__proto__"]', '{"__proto__":1}', 'null'];
    cluster.restore([...odd, '["S","blue","web",["10.96.0.1"],[]]', '["E"]', '["S","blue","shop",0,[]]']);
    cluster.settle();
    expect(isPublished('web')).toBe(true);
    expect([...cluster.snapshot()]).toHaveLength(2);
  });
});
