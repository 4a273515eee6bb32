import { parseName, toKey } from '@portolan/dns/name.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { ServiceObject } from '@portolan/kubernetes/objects/objects.ts';
import { inspectCluster } from '@portolan/kubernetes/plugins/kubernetes/inspected-cluster.ts';
import { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import { findDialect } from '@portolan/kubernetes/publish/find-dialect.ts';
import { describe, expect, it } from 'vitest';
import { listNames, readZones } from '../control/published-names.ts';
import type { ServerStatus } from '../control/status.ts';
import { findPairs, NameComparison } from './compare-names.ts';
import type { ShownReplica } from './replica.ts';

const DOMAIN = toKey(parseName('cluster.local.'));

const service = (name: string, address = '10.96.0.1', namespace = 'shop'): ServiceObject => ({
  kind: 'Service',
  namespace,
  name,
  address: { kind: 'clusterIPs', addresses: [address] },
  ports: [],
});

const SERVICES = Array.from({ length: 50 }, (_, number) => service(`s${number}`, '10.96.0.7', 'web'));

/** A replica with the services of a cluster of its own, which answers `names` as a server does. */
function makeReplica(name: string, clock: ManualClock, asked: string[]) {
  const table = new TableWriter({ readers: 0, reservation: 64 * 2 ** 20, seed: 4711 });
  const options = { domain: DOMAIN, dialect: findDialect('coredns'), pods: 'disabled' } as const;
  const cluster = new Cluster({ ...options, ttl: 30, ownAddresses: [] }, table, clock, silentLog);
  cluster.services.listStarted();
  for (const each of [...SERVICES, service('cart')]) cluster.services.upsert(each);
  cluster.services.listCompleted();
  const inspected = inspectCluster({
    cluster,
    followedBy: 'server',
    status: undefined,
    rules: { pods: 'disabled', namespaces: [], ignoresEmptyServices: false },
  });
  // Only what is inspected.
  const server = { engine: { serverBlocks: { inspect: () => [inspected] } } } as unknown as Parameters<
    typeof readZones
  >[0];
  const replica: ShownReplica = {
    name,
    async *ask({ verb, words }) {
      asked.push([name, verb, ...words].join(' '));
      const [bucket] = words;
      const answers = listNames(server, bucket === undefined ? undefined : Number.parseInt(bucket, 16));
      for await (const answer of answers) yield JSON.parse(JSON.stringify(answer));
    },
  };
  const state = (version = '1') => ({
    name,
    error: undefined,
    rate: undefined,
    // Only what is compared.
    status: { ready: true, version, zones: readZones(server) } as unknown as ServerStatus,
  });
  return { cluster, replica, state };
}

function makeThree() {
  const clock = new ManualClock();
  const asked: string[] = [];
  const all = ['a', 'b', 'c'].map((name) => makeReplica(name, clock, asked));
  const replicas = new Map(all.map(({ replica }) => [replica.name, replica]));
  const comparison = new NameComparison();
  const compare = async () => {
    const states = all.map(({ state }) => state());
    await comparison.compare(states, replicas, new AbortController().signal);
    return comparison.findings.map(({ sentence }) => sentence);
  };
  return { all, clock, asked, compare };
}

describe('replicas with the same services', () => {
  it('are not asked', async () => {
    const { compare, asked } = makeThree();
    expect([await compare(), await compare(), asked]).toEqual([[], [], []]);
  });

  it('may be some seconds apart', async () => {
    const { all, clock, compare } = makeThree();
    for (const { cluster } of all.slice(0, 2)) cluster.services.remove('shop/cart');
    clock.advance(5_000);
    expect([await compare(), await compare()]).toEqual([[], []]);
    all[2]?.cluster.services.remove('shop/cart');
    clock.advance(60_000);
    expect([await compare(), await compare()]).toEqual([[], []]);
  });

  it('are not compared across versions', () => {
    const clock = new ManualClock();
    const one = makeReplica('a', clock, []);
    const other = makeReplica('b', clock, []);
    other.cluster.services.remove('shop/cart');
    expect(findPairs([one.state('1'), other.state('2')])).toEqual([]);
    expect(findPairs([one.state(), { ...other.state(), status: undefined }])).toEqual([]);
    expect(findPairs([one.state(), other.state()])).toEqual([{ domain: DOMAIN, replica: 'b', other: 'a' }]);
  });
});

describe('a replica with other services', () => {
  it('is named with the services that it lacks, has besides, or has otherwise', async () => {
    const { all, clock, compare, asked } = makeThree();
    const [one, two, three] = all;
    for (const each of [one, two]) {
      each?.cluster.services.upsert(service('new'));
      each?.cluster.services.remove('shop/cart');
    }
    three?.cluster.services.upsert(service('s1', '10.96.9.9', 'web'));
    clock.advance(20_000);
    expect(await compare()).toEqual([]);
    expect(await compare()).toEqual([
      'c lacks new.shop, and still has cart.shop, and has other addresses or ports of s1.web, other than a',
    ]);
    // The digests, and at most the three parts that differ, twice.
    expect(asked.length).toBeLessThanOrEqual(2 * (2 + 2 * 3));
    three?.cluster.services.upsert(service('new'));
    three?.cluster.services.remove('shop/cart');
    three?.cluster.services.upsert(service('s1', '10.96.0.7', 'web'));
    expect(await compare()).toEqual([]);
  });

  it('that does not answer is passed over', async () => {
    const { all, clock } = makeThree();
    all[2]?.cluster.services.remove('shop/cart');
    clock.advance(20_000);
    const away: ShownReplica = {
      name: 'c',
      async *ask() {
        yield await Promise.reject(new Error('it is away'));
      },
    };
    const comparison = new NameComparison();
    const replicas = new Map(
      [...all.slice(0, 2).map(({ replica }) => replica), away].map((r) => [r.name, r]),
    );
    const states = all.map(({ state }) => state());
    for (let turn = 0; turn < 3; turn++)
      await comparison.compare(states, replicas, new AbortController().signal);
    expect(comparison.findings).toEqual([]);
  });
});
