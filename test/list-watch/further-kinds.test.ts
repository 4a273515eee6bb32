/**
 * The kinds that names are not derived from: one ConfigMap, with permissions for only it, and nodes.
 */
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { fixedBytes } from '@portolan/kubernetes/api/connection/byte-source.ts';
import { HttpConnection } from '@portolan/kubernetes/api/connection/http-connection.ts';
import { makeApiAccess } from '@portolan/kubernetes/api/list-watch/api-access.ts';
import { followConfigMap, followNodes } from '@portolan/kubernetes/api/list-watch/further-kinds.ts';
import type { Follower } from '@portolan/kubernetes/api/list-watch/reflector.ts';
import { ConfigMapSink } from '@portolan/kubernetes/objects/config-map-sink.ts';
import { NodePlaces } from '@portolan/kubernetes/objects/node-places.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { ApiServerDouble, type ApiServerOptions } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';

const NAMESPACE = 'kube-system';
const NAME = 'kube-dns';

const configMap = (data: object, name = NAME): KubernetesObject => ({
  kind: 'ConfigMap',
  metadata: { name, namespace: NAMESPACE },
  data,
});

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function startWorld(options: ApiServerOptions) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const double = await ApiServerDouble.start({ clock, tls: 'server', ...options });
  const user = { token: fixedBytes(Buffer.from('secret')) };
  const settings = { server: new URL(double.url), source: 'test', verify: false, user };
  const connection = new HttpConnection(settings, clock);
  stops.push(
    () => double.stop(),
    async () => connection.close(),
  );
  const api = makeApiAccess({ connection, log, clock, random: () => 0.5 });
  const run = (follower: Follower) => {
    follower.start();
    stops.push(() => follower.stop());
  };
  const verbs = () => [...new Set(double.requests.map(({ verb, target }) => `${verb} ${target?.name}`))];
  return { clock, log, double, api, run, verbs };
}

async function followOne(options: ApiServerOptions) {
  const world = await startWorld(options);
  const seen: unknown[] = [];
  const sink = new ConfigMapSink(NAME, (data) => seen.push(data && Object.fromEntries(data)));
  world.run(followConfigMap(world.api, NAMESPACE, NAME, sink));
  const until = (count: number) => waitUntil('the ConfigMap', () => seen.length >= count);
  return { ...world, seen, until };
}

const ONLY_THIS = {
  tokens: { secret: 'dns' },
  rules: {
    dns: [
      {
        groups: [''],
        resources: ['configmaps'],
        verbs: ['get', 'watch'] as const,
        names: [NAME],
        namespace: NAMESPACE,
      },
    ],
  },
};

describe.each([true, false])('one ConfigMap (a server with watch-list: %s)', (watchList) => {
  test('is followed with get and watch alone', async () => {
    const objects = [configMap({ a: '1', octets: 7 }), configMap({ a: 'x' }, 'other')];
    const { double, seen, until, verbs } = await followOne({ objects, watchList, access: ONLY_THIS });
    await until(1);
    await waitUntil('a watch', () => double.watches.size === 1);
    double.put(configMap({ a: '2' }));
    double.put(configMap({ a: 'y' }, 'other'));
    await waitUntil('the change', () => JSON.stringify(seen.at(-1)) === '{"a":"2"}');
    double.delete('ConfigMap', NAME, NAMESPACE);
    await waitUntil('the end', () => seen.at(-1) === undefined);
    expect(seen[0]).toEqual({ a: '1' });
    expect(JSON.stringify(seen)).not.toMatch(/[xy]/);
    expect(verbs().sort()).toEqual(watchList ? [`watch ${NAME}`] : [`get ${NAME}`, `watch ${NAME}`]);
    expect(double.requests.some(({ status }) => status === 403)).toBe(false);
  });

  test('may come later', async () => {
    const { double, seen, until } = await followOne({ objects: [], watchList });
    await until(1);
    await waitUntil('a watch', () => double.watches.size === 1);
    double.put(configMap({ a: '1' }));
    await until(2);
    expect(seen).toEqual([undefined, { a: '1' }]);
  });

  test('is read again when a watch has ended', async () => {
    const { clock, double, seen, until } = await followOne({ objects: [configMap({ a: '1' })], watchList });
    await until(1);
    await waitUntil('a watch', () => double.watches.size === 1);
    double.faults.add({
      plural: 'configmaps',
      verb: 'watch',
      fault: { kind: 'status', status: 500 },
      times: 1,
    });
    double.endWatches();
    double.put(configMap({ a: '2' }));
    await waitUntil('the change', () => JSON.stringify(seen.at(-1)) === '{"a":"2"}', {
      step: () => clock.advance(100),
    });
  });
});

test('a ConfigMap that we may not see leaves defaults, and is tried again', async () => {
  const access = { tokens: { secret: 'dns' }, rules: { dns: [] } };
  const { clock, log, double, seen } = await followOne({ objects: [configMap({})], access });
  await waitUntil('a refusal', () => log.records.some(({ level }) => level === 'warn'));
  expect(log.records.find(({ level }) => level === 'warn')?.fields).toMatchObject({
    kind: 'configmaps',
    state: 'permission',
  });
  expect(seen).toEqual([]);
  double.access = ONLY_THIS;
  await waitUntil('the ConfigMap', () => seen.length > 0, { step: () => clock.advance(1000) });
});

test('nodes are trimmed to where they stand', async () => {
  const labels = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' };
  const objects = [
    { kind: 'Node', metadata: { name: 'a' } },
    { kind: 'Node', metadata: { name: 'b', labels } },
  ];
  const { double, api, run } = await startWorld({ objects });
  const places = new NodePlaces();
  run(followNodes(api, places));
  await waitUntil('the place', () => places.place.kind === 'place');
  await waitUntil('a watch', () => double.watches.size === 1);
  expect(places.place).toEqual({ kind: 'place', zone: 'z', region: 'r' });
  double.put({ kind: 'Node', metadata: { name: 'b' } });
  await waitUntil('no place', () => places.place.kind === 'nowhere');
});
