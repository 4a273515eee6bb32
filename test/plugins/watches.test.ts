/**
 * What plugins of others follow on an API server, by the watches of the host.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { WatchedKind } from '@portolan/plugin';
import { PluginWatches } from '@portolan/server/plugin-services/watches.ts';
import { expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { service } from '../list-watch/harness.ts';

async function startWorld() {
  const double = await ApiServerDouble.start({
    objects: [service('a', '10.96.0.1'), service('b', '10.96.0.2')],
  });
  onTestFinished(() => double.stop());
  const folder = await makeTemporaryFolder();
  const file = await folder.write(
    'kubeconfig',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c' } }],
      clusters: [{ name: 'c', cluster: { server: double.url } }],
    }),
  );
  const log = new RecordingLog();
  const watches = new PluginWatches({ clock: systemClock, log, environment: {} });
  onTestFinished(() => watches.stop());
  return { double, log, watches, kubeconfig: { file } };
}

/** The addresses of services. */
const services: WatchedKind<string> = {
  group: '',
  versions: ['v1'],
  resource: 'services',
  read(object) {
    // As `service` makes it.
    const { metadata, spec } = object as { metadata: { name: string }; spec: { clusterIP: string } };
    if (metadata.name === 'broken') throw new TypeError('it has no address');
    return metadata.name === 'unwanted' ? undefined : spec.clusterIP;
  },
};

it('holds what was read of each object, tells of changes together, and ends with the plugin', async () => {
  const { double, log, watches, kubeconfig } = await startWorld();
  let calls = 0;
  const watch = await watches.follow({ ...services, kubeconfig }, () => {
    calls += 1;
    throw new Error('a mistake of the plugin');
  });
  expect(watch.state).toBe('listing');
  await waitUntil('the list', () => watch.state === 'followed');
  expect([...watch.objects]).toEqual([
    ['default/a', '10.96.0.1'],
    ['default/b', '10.96.0.2'],
  ]);
  await waitUntil('an open watch', () => double.watches.size === 1);
  await waitUntil('the first call', () => calls > 0);
  const before = calls;
  for (let place = 1; place <= 200; place += 1) double.put(service('c', `10.96.1.${place}`));
  for (const name of ['unwanted', 'broken']) double.put(service(name, '10.96.0.9'));
  double.delete('Service', 'a', 'default');
  await waitUntil('the changes', () => !watch.objects.has('default/a'));
  expect([...watch.objects.keys()]).toEqual(['default/b', 'default/c']);
  expect(watch.objects.get('default/c')).toBe('10.96.1.200');
  await waitUntil('a call for them', () => calls > before);
  expect(calls - before).toBeLessThan(100);
  expect(log.text).toContain('it has no address');
  expect(log.text).toContain('a mistake of the plugin');
  await watches.stop();
  await waitUntil('the end of the watch', () => double.watches.size === 0);
  await expect(watches.follow({ ...services, kubeconfig }, () => {})).rejects.toThrow(
    'the plugin has stopped',
  );
});

it('asks for JSON, and follows the best version that the server has', async () => {
  const { double, log, watches, kubeconfig } = await startWorld();
  const versions = ['v9', 'v1'] as const;
  const watch = await watches.follow({ ...services, versions, labels: 'app=x', kubeconfig }, () => {});
  await waitUntil('the list', () => watch.state === 'followed');
  expect(watch.objects.size).toBe(0);
  // Comparisons ask for one object, and for metadata only.
  const asked = double.requests.filter(
    ({ plural, query }) => plural === 'services' && query.get('limit') !== '1',
  );
  expect(new Set(asked.map(({ headers }) => headers.accept))).toEqual(new Set(['application/json']));
  expect(asked.every(({ query }) => query.get('labelSelector') === 'app=x')).toBe(true);
  // It is no outage.
  expect(log.records.filter(({ level }) => level === 'warn')).toEqual([]);
});

it('says why there is no cluster', async () => {
  const watches = new PluginWatches({ clock: systemClock, log: new RecordingLog(), environment: {} });
  await expect(watches.follow(services, () => {})).rejects.toThrow('no API server: ');
  await watches.stop();
});
