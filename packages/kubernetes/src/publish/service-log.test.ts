import { parseName, toKey } from '@portolan/dns/name.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { computeBucket } from '@portolan/kernel/records/service-digest.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServiceObject, ServicePort } from '../objects/objects.ts';
import { serviceKey } from '../records/fill-drafts.ts';
import { Cluster } from './cluster.ts';
import { findDialect } from './find-dialect.ts';

const DOMAIN = toKey(parseName('cluster.local.'));

const service = (name: string, address = '10.96.0.1'): ServiceObject => ({
  kind: 'Service',
  namespace: 'shop',
  name,
  address: { kind: 'clusterIPs', addresses: [address] },
  ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
});

function makeCluster(services: readonly ServiceObject[] = [], hasHttpsRecords = false) {
  const clock = new ManualClock();
  const table = new TableWriter({ readers: 0, reservation: 64 * 2 ** 20, seed: 4711 });
  const options = { domain: DOMAIN, dialect: findDialect('coredns'), pods: 'disabled' } as const;
  const more = { ttl: 30, ownAddresses: [], hasHttpsRecords };
  const cluster = new Cluster({ ...options, ...more }, table, clock, silentLog);
  cluster.services.listStarted();
  for (const each of services) cluster.services.upsert(each);
  cluster.services.listCompleted();
  const goneSince = (name: string) => cluster.log.goneSince(serviceKey('shop', name) ?? new Uint8Array());
  const changes = () => [...cluster.log.changes()].map(({ name, change }) => `${name} ${change}`);
  return { cluster, clock, goneSince, changes };
}

const name = fc.integer({ min: 0, max: 20 }).map((number) => `s${number}`);
const address = fc.integer({ min: 1, max: 3 }).map((number) => `10.96.0.${number}`);
const step = fc.record({ name, address, isGone: fc.boolean() });

describe('the digest', () => {
  it('depends on the services that there are, and not on how they came', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const one = makeCluster();
        const left = new Map<string, ServiceObject>();
        for (const { name: of, address: at, isGone } of steps) {
          if (isGone) one.cluster.services.remove(`shop/${of}`);
          else one.cluster.services.upsert(service(of, at));
          if (isGone) left.delete(of);
          else left.set(of, service(of, at));
        }
        const other = makeCluster([...left.values()].reverse());
        expect(one.cluster.log.digest).toBe(other.cluster.log.digest);
        expect(one.cluster.log.digest === makeCluster().cluster.log.digest).toBe(left.size === 0);
      }),
      { numRuns: 40 },
    );
  });

  it('is the same with HTTPS records and without them', () => {
    const appProtocol = { kind: 'https', versions: ['h2', 'h3'] } as const;
    const ports = ['https', 'a', 'bc', ''].map(
      (name, index): ServicePort => ({ name, protocol: 'TCP', port: 443 + index, appProtocol }),
    );
    const digest = (hasHttpsRecords: boolean, of: readonly ServicePort[]) =>
      makeCluster([{ ...service('web'), ports: of }], hasHttpsRecords).cluster.log.digest;
    expect(digest(true, ports)).toBe(digest(false, ports));
    const others = ports.with(3, { name: '', protocol: 'UDP', port: 446 });
    expect(digest(true, others)).not.toBe(digest(true, ports));
  });

  it('changes with an address or a port, and keeps its latest values', () => {
    const { cluster, clock } = makeCluster([service('cart')]);
    const first = cluster.log.digest;
    cluster.services.upsert(service('cart'));
    expect([cluster.log.digest, cluster.log.formerDigests]).toEqual([first, []]);
    cluster.services.upsert(service('cart', '10.96.0.2'));
    const second = cluster.log.digest;
    clock.advance(1_000);
    cluster.services.upsert({ ...service('cart', '10.96.0.2'), ports: [] });
    clock.advance(500);
    expect(new Set([first, second, cluster.log.digest]).size).toBe(3);
    expect(cluster.log.formerDigests).toEqual([
      { digest: second, age: 500 },
      { digest: first, age: 1_500 },
    ]);
    for (let turn = 0; turn < 200; turn++) cluster.services.upsert(service('cart', `10.96.1.${turn}`));
    expect(cluster.log.formerDigests).toHaveLength(64);
  });

  it('is the sum of what is listed for comparison', () => {
    const { cluster } = makeCluster(['a', 'b', 'c'].map((each) => service(each)));
    const listed = Array.from(cluster.contents.hashedServices('shop'), (each) => ({
      name: each.name,
      bucket: each.bucket,
      low: each.hash.low,
      high: each.hash.high,
    }));
    const sum = (part: 'low' | 'high') =>
      (listed.reduce((total, each) => (total + each[part]) | 0, 0) >>> 0).toString(16).padStart(8, '0');
    expect(`${sum('high')}${sum('low')}`).toBe(cluster.log.digest);
    expect(listed.map(({ bucket }) => bucket)).toEqual(
      listed.map((each) => computeBucket(serviceKey('shop', each.name) ?? new Uint8Array())),
    );
  });
});

describe('the log of services', () => {
  it('lists services that appeared or disappeared after the first list, the latest first', () => {
    const { cluster, clock, goneSince, changes } = makeCluster([service('cart'), service('web')]);
    expect(changes()).toEqual([]);
    const start = clock.now();
    clock.advance(1_000);
    cluster.services.remove('shop/cart');
    clock.advance(1_000);
    cluster.services.upsert(service('new'));
    cluster.services.upsert(service('new', '10.96.0.9'));
    expect(changes()).toEqual(['new came', 'cart went']);
    expect([goneSince('cart'), goneSince('new'), goneSince('web')]).toEqual([
      start + 1_000,
      undefined,
      undefined,
    ]);
    cluster.services.upsert(service('cart'));
    expect([goneSince('cart'), changes()[0]]).toEqual([undefined, 'cart came']);
  });

  it('has what another list lacks', () => {
    const { cluster, changes } = makeCluster([service('cart'), service('web')]);
    cluster.services.listStarted();
    cluster.services.upsert(service('web'));
    cluster.services.listCompleted();
    expect(changes()).toEqual(['cart went']);
  });

  it('forgets the oldest changes, and holds no more than it has room for', () => {
    const { cluster, goneSince } = makeCluster();
    for (let turn = 0; turn < 5_000; turn++) {
      cluster.services.upsert(service(`s${turn}`));
      cluster.services.remove(`shop/s${turn}`);
    }
    const names = Array.from(cluster.log.changes(), (each) => each.name);
    expect([names.length, names[0], names.at(-1)]).toEqual([4_096, 's4999', 's2952']);
    expect([goneSince('s2951'), goneSince('s2952') !== undefined]).toEqual([undefined, true]);
  });

  it('tells its follower nothing of what is cleared after a stop', () => {
    const { cluster } = makeCluster([service('cart'), service('web')]);
    const told: string[] = [];
    cluster.log.follow({
      serviceChanged: (_, of, change) => told.push(`${of} ${change}`),
      readyChanged: (_, of) => told.push(`${of} ready`),
    });
    cluster.services.remove('shop/web');
    for (const _ of cluster.clear());
    expect(told).toEqual(['web went']);
  });
});
