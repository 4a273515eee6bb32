import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { addresses, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { expect, it } from 'vitest';
import { clustersIn } from '../kubernetes/inspected-cluster.ts';
import type { KubernetesOptions } from '../kubernetes/options.ts';
import { Kubernetai } from './kubernetai-plugin.ts';

const key = (name: string): NameKey => toKey(parseName(name));

interface Given {
  readonly zone: string;
  readonly fallthrough?: readonly string[];
  /** Addresses by the names of services; undefined: the cluster has not been listed. */
  readonly services: Readonly<Record<string, string>> | undefined;
}

function makeOptions({ zone, fallthrough = [] }: Given, place: number): KubernetesOptions {
  const endpoint = `http://192.0.2.${place}`;
  return {
    kind: 'directive',
    zones: [key(zone)],
    primaryZone: key(zone),
    api: { endpoint, tls: undefined, kubeconfig: undefined, qps: 0, burst: 0, maxInflight: 0 },
    pods: 'disabled',
    endpointPodNames: false,
    namespaces: [],
    namespaceLabels: undefined,
    labels: undefined,
    ttl: 5,
    hasEndpoints: true,
    ignoresEmptyService: false,
    multicluster: [],
    zonal: false,
    fallthrough: fallthrough.map(key),
    startupTimeout: 5000,
  };
}

function serving(...given: readonly Given[]) {
  const dependencies = {
    clock: new ManualClock(),
    log: silentLog,
    restored: NOTHING_RESTORED,
    ownAddresses: [],
    environment: {},
    metrics: new MetricRegistry(),
    table: new TableWriter({ readers: 1, reservation: 2 ** 26 }),
    chain: (): Answer => ({ kind: 'servfail' }),
  };
  const options = given.map(makeOptions);
  const plugin = new Kubernetai(options, dependencies);
  given.forEach(({ services }, place) => {
    const of = options[place];
    const cluster = of && plugin.clusterFor(of, dependencies)?.followed.cluster;
    if (cluster === undefined) throw new TypeError('no cluster');
    if (services === undefined) return;
    const sinks = [cluster.services, cluster.endpoints, cluster.namespaces];
    for (const sink of sinks) sink.listStarted();
    cluster.namespaces.upsert({ kind: 'Namespace', name: 'shop' });
    for (const [name, address] of Object.entries(services))
      cluster.services.upsert({
        kind: 'Service',
        namespace: 'shop',
        name,
        ports: [],
        address: { kind: 'clusterIPs', addresses: [address] },
      });
    for (const sink of sinks) sink.listCompleted();
    cluster.settle();
  });
  const ask = async (name: string) =>
    tell(
      await plugin.handler.handle(makeQuery(name), ({ question }) =>
        addresses(question.name, '198.51.100.1'),
      ),
    );
  return { plugin, ask, dependencies, options };
}

function tell(answer: Answer): string {
  return answer.kind === 'records' ? answer.records.map(presentRecord).join() : answer.kind;
}

const BEHIND = (name: string) => `${name} 30 IN A 198.51.100.1`;

it('answers for each cluster in its zone, and passes on other names', async () => {
  const { ask, plugin } = serving(
    { zone: 'one.test.', services: { cart: '10.1.0.1' } },
    { zone: 'two.test.', services: { cart: '10.2.0.1' } },
  );
  expect(await ask('cart.shop.svc.one.test.')).toBe('cart.shop.svc.one.test. 5 IN A 10.1.0.1');
  expect(await ask('cart.shop.svc.two.test.')).toBe('cart.shop.svc.two.test. 5 IN A 10.2.0.1');
  expect(await ask('desk.shop.svc.one.test.')).toBe('nxdomain');
  expect(await ask('desk.test.')).toBe(BEHIND('desk.test.'));
  expect([...plugin.origins()]).toEqual(['one.test.', 'two.test.']);
  expect(plugin.zoneAt(key('two.test.'), '192.0.2.53')?.soa?.name).toBe('two.test.');
});

it('asks the next cluster for what one passes on, and then the plugins behind', async () => {
  const both = { zone: 'cluster.local.', fallthrough: ['.'] };
  const { ask } = serving(
    { ...both, services: { cart: '10.1.0.1' } },
    { ...both, services: { cart: '10.2.0.1', desk: '10.2.0.2' } },
  );
  expect(await ask('cart.shop.svc.cluster.local.')).toBe('cart.shop.svc.cluster.local. 5 IN A 10.1.0.1');
  expect(await ask('desk.shop.svc.cluster.local.')).toBe('desk.shop.svc.cluster.local. 5 IN A 10.2.0.2');
  expect(await ask('lamp.shop.svc.cluster.local.')).toBe(BEHIND('lamp.shop.svc.cluster.local.'));
});

it('asks the next cluster while one is not listed, but denies nothing that it may have', async () => {
  const one = { zone: 'cluster.local.', fallthrough: ['.'], services: undefined };
  const two = { zone: 'cluster.local.', services: { cart: '10.2.0.1' } };
  const { ask, plugin } = serving(one, two);
  expect(await ask('cart.shop.svc.cluster.local.')).toBe('cart.shop.svc.cluster.local. 5 IN A 10.2.0.1');
  expect(await ask('desk.shop.svc.cluster.local.')).toBe('servfail');
  expect(plugin.isReady()).toBe(true);
  const firm = serving({ ...one, fallthrough: [] }, two);
  expect(await firm.ask('cart.shop.svc.cluster.local.')).toBe('servfail');
});

it('shares the clusters of the former plan, also in another order', () => {
  const { plugin, options, dependencies } = serving(
    { zone: 'one.test.', services: {} },
    { zone: 'two.test.', services: {} },
  );
  const next = new Kubernetai(options.toReversed(), dependencies, plugin);
  for (const each of options) {
    const shared = next.clusterFor(each, dependencies)?.followed;
    expect(shared).toBe(plugin.clusterFor(each, dependencies)?.followed);
  }
});

it('says which names its first cluster has', () => {
  const { options, dependencies } = serving({ zone: 'one.test.', services: {} });
  const rules = { pods: 'insecure', namespaces: ['shop'], ignoresEmptyService: true } as const;
  const plugin = new Kubernetai(
    options.map((each) => ({ ...each, ...rules })),
    dependencies,
  );
  const [found] = clustersIn([plugin.inspect()]);
  expect(found?.rules).toEqual({ pods: 'insecure', namespaces: ['shop'], ignoresEmptyServices: true });
  expect(found?.followedBy).toBe('plugin');
});

it('leaves the answers of a single cluster to readers', () => {
  expect(serving({ zone: 'one.test.', services: {} }).plugin.handler.role).toBe('publisher');
});
