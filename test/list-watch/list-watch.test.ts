/**
 * List and watch without faults.
 */
import { fixedBytes } from '@portolan/kubernetes/api/connection/byte-source.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { kubeDnsRules } from '../api-server/access.ts';
import { endpoints, Harness, type HarnessOptions, namespace, pod, service, slice } from './harness.ts';

let harness: Harness;

async function start(options: HarnessOptions = {}): Promise<void> {
  harness = await Harness.start(options);
}

afterEach(() => harness.stop());

const many = (count: number) => Array.from({ length: count }, (_, index) => service(`web-${index}`));

describe('lists', () => {
  test.each([
    ['JSON', false],
    ['Protocol Buffers', true],
  ])('objects of every kind arrive trimmed from %s', async (_encoding, protobuf) => {
    const objects = [service('web'), slice('web-1', 'web'), namespace('default'), pod('web-0', '10.244.0.1')];
    await start({ server: { objects, protobuf }, kinds: ['namespaces', 'pods'] });
    await harness.untilWatching();
    expect(harness.services.objects.get('default/web')).toEqual({
      kind: 'Service',
      namespace: 'default',
      name: 'web',
      address: { kind: 'clusterIPs', addresses: ['10.96.0.10'] },
      ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
    });
    expect(harness.endpoints.objects.get('default/web-1')).toMatchObject({ service: 'web' });
    expect(harness.namespaces.keys).toEqual(['default']);
    expect(harness.pods.objects.get('default/web-0')).toMatchObject({ addresses: ['10.244.0.1'] });
    expect(harness.watch.status()).toMatchObject({ synced: true, age: 0, reasons: [] });
  });

  const listsOfServices = () =>
    harness.double.requests.filter(({ verb, plural }) => verb === 'list' && plural === 'services');

  test('come whole from the watch cache of the server', async () => {
    await start({ server: { objects: many(1201) } });
    await harness.untilWatching();
    expect(harness.services.count()).toBe(1201);
    expect(listsOfServices().map(({ query }) => query.toString())).toEqual(['resourceVersion=0']);
  });

  test('come from the store in pages of 500 when what is held may be wrong', async () => {
    await start({ server: { objects: many(1201) } });
    await harness.untilWatching();
    for (const watch of harness.double.watches) watch.inject('nonsense\n');
    await harness.untilAsTimePasses('a second list', 50, () => harness.services.completed === 2);
    const pages = listsOfServices().filter(({ query }) => query.has('limit'));
    expect(pages.map(({ query }) => query.get('limit'))).toEqual(['500', '500', '500']);
    expect(pages.some(({ query }) => query.has('resourceVersion'))).toBe(false);
  });

  test('objects that change between two pages are neither lost nor doubled', async () => {
    await start({ server: { objects: many(1001) } });
    await harness.untilWatching();
    const fault = { kind: 'pieces', size: 10_000, pause: 1 } as const;
    harness.double.faults.add({ plural: 'services', continued: true, fault });
    const begun = harness.services.calls.length;
    for (const watch of harness.double.watches) watch.inject('nonsense\n');
    await harness.untilAsTimePasses('the first page', 50, () => harness.services.calls.length >= begun + 500);
    harness.double.delete('Service', 'web-0', 'default');
    harness.double.put(service('late'));
    await harness.until('the change', () => harness.services.keys.includes('default/late'));
    expect(harness.services.count()).toBe(1001);
    expect(harness.services.keys).not.toContain('default/web-0');
  });

  test('by watch where the server has it', async () => {
    const objects = [...many(3), pod('ended', '10.0.0.1', 'Succeeded')];
    await start({ server: { objects, watchList: true }, kinds: ['pods'] });
    await harness.untilWatching();
    expect(harness.services.calls).toEqual([
      'listStarted',
      'upsert default/web-0',
      'upsert default/web-1',
      'upsert default/web-2',
      'listCompleted',
    ]);
    expect(harness.double.requests.some(({ verb }) => verb === 'list')).toBe(false);
    harness.double.put(service('late'));
    await harness.until('the change', () => harness.services.count() === 4);
  });

  test('by watch and then quiet for longer than a list may be', async () => {
    await start({ server: { objects: many(1), watchList: true, bookmarkEvery: 1e9 } });
    await harness.untilWatching();
    harness.clock.advance(149_000);
    harness.double.put(service('late'));
    await harness.until('the change', () => harness.services.count() === 2);
    expect(harness.services.completed).toBe(1);
    expect(harness.double.requests.filter(({ verb }) => verb === 'watch')).toHaveLength(2);
  });

  test('the answer 422 to a watch-list is remembered', async () => {
    await start({ server: { objects: many(1) } });
    await harness.untilWatching();
    harness.double.compact();
    harness.double.resetWatches();
    await harness.untilAsTimePasses('a second list', 50, () => harness.services.completed === 2);
    const asked = harness.double.requests.filter(
      ({ plural, query }) => plural === 'services' && query.has('sendInitialEvents'),
    );
    expect(asked).toHaveLength(1);
  });
});

describe('watches', () => {
  test('ask for bookmarks and for an end between 240 and 300 seconds', async () => {
    await start();
    await harness.untilWatching();
    const query = harness.double.requests.findLast(({ verb }) => verb === 'watch')?.query;
    expect(query?.get('allowWatchBookmarks')).toBe('true');
    expect(query?.get('timeoutSeconds')).toBe('270');
  });

  test('bring what is created, changed and deleted', async () => {
    await start({ server: { objects: many(1) } });
    await harness.untilWatching();
    harness.double.put(service('new'));
    harness.double.put(service('new', '10.96.0.11'));
    harness.double.delete('Service', 'web-0', 'default');
    await harness.until('the deletion', () => !harness.services.objects.has('default/web-0'));
    expect(harness.services.objects.get('default/new')?.address).toEqual({
      kind: 'clusterIPs',
      addresses: ['10.96.0.11'],
    });
    expect(harness.services.completed).toBe(1);
  });

  test('a bookmark counts for its resource version alone, and the watch goes on from there', async () => {
    await start({ server: { objects: many(1) } });
    await harness.untilWatching();
    harness.double.put(namespace('elsewhere'));
    const version = String(harness.double.store.version);
    harness.double.bookmark();
    await harness.until('the bookmark', () => harness.kind('services').age === 0);
    harness.double.endWatches();
    const resumed = () =>
      harness.double.requests.some(
        ({ plural, query }) => plural === 'services' && query.get('resourceVersion') === version,
      );
    await harness.untilAsTimePasses('the watch to go on', 10, resumed);
    expect(harness.services.keys).toEqual(['default/web-0']);
    expect(harness.services.completed).toBe(1);
  });

  test('end by their own time and go on without a list', async () => {
    await start({ server: { objects: many(1), bookmarkEvery: 60_000 } });
    await harness.untilWatching();
    const opened = () => harness.double.requests.filter(({ verb }) => verb === 'watch').length;
    const before = opened();
    await harness.untilAsTimePasses('new watches', 1000, () => opened() >= before + 2);
    harness.double.put(service('late'));
    await harness.until('the change', () => harness.services.count() === 2);
    expect(harness.services.completed).toBe(1);
    expect(harness.log.records.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  test('the age of the data grows until there is proof again', async () => {
    await start({ server: { bookmarkEvery: 1e9 } });
    await harness.untilWatching();
    harness.clock.advance(40_000);
    expect(harness.watch.status().age).toBe(40_000);
    harness.double.bookmark();
    await harness.until('proof', () => harness.watch.status().age === 0);
  });

  test('the age of a list counts from when it was asked for', async () => {
    await start({ server: { objects: many(1000) } });
    const fault = { kind: 'pieces', size: 10_000, pause: 1 } as const;
    harness.double.faults.add({ plural: 'services', continued: true, fault });
    await harness.until('the first page', () => harness.services.count() >= 500);
    harness.clock.advance(5_000);
    await harness.until('the list', () => harness.services.completed === 1);
    expect(harness.kind('services').age).toBe(5_000);
  });

  test('objects without use for DNS come and go without a trace', async () => {
    await start({ server: { objects: [pod('a', '10.0.0.1')] }, kinds: ['pods'] });
    await harness.untilWatching();
    harness.double.put(pod('a', '10.0.0.1', 'Succeeded'));
    harness.double.put(pod('b', '10.0.0.1'));
    await harness.until('the second pod', () => harness.pods.objects.has('default/b'));
    expect(harness.pods.keys).toEqual(['default/b']);
    expect(harness.kind('pods').objects).toBe(2);
    harness.double.delete('Pod', 'a', 'default');
    harness.double.put(pod('c', '10.0.0.2'));
    await harness.until('the third pod', () => harness.pods.objects.has('default/c'));
    expect(harness.kind('pods').objects).toBe(2);
  });

  test('after a stop no sink is called, and nothing is left open', async () => {
    await start({ server: { objects: many(1) } });
    await harness.untilWatching();
    await harness.watch.stop();
    expect(harness.state).toBe('idle');
    await harness.until('the watches to close', () => harness.double.watches.size === 0);
    const calls = harness.services.calls.length;
    harness.double.put(service('late'));
    expect(harness.services.calls).toHaveLength(calls);
  });
});

describe('the ways to endpoints', () => {
  test('v1beta1 where there is no v1', async () => {
    const serves = ['v1/services', 'v1/endpoints', 'discovery.k8s.io/v1beta1/endpointslices'];
    await start({ server: { objects: [slice('web-1', 'web')], serves } });
    await harness.untilWatching();
    expect(harness.endpoints.keys).toEqual(['default/web-1']);
  });

  test('Endpoints where there are no slices', async () => {
    const serves = ['v1/services', 'v1/endpoints'];
    await start({ server: { objects: [endpoints('web')], serves } });
    await harness.untilWatching();
    expect(harness.endpoints.keys).toEqual(['default/web']);
  });

  test('Endpoints under exactly the rules of system:kube-dns; slices again once they are allowed', async () => {
    const access = { tokens: { secret: 'kube-dns' }, rules: { 'kube-dns': kubeDnsRules } };
    const objects = [service('web'), endpoints('web'), slice('web-1', 'web')];
    await start({ server: { objects, access, tls: 'server' }, settings: secured('secret') });
    await harness.untilAsTimePasses('Endpoints', 100, () => harness.watch.status().synced);
    expect(harness.endpoints.keys).toEqual(['default/web']);
    const downgrades = harness.log.records.filter(({ message }) => message.startsWith('API version not'));
    expect(downgrades.at(-1)?.fields).toMatchObject({ kind: 'endpoints', path: '/api/v1/endpoints' });
    harness.double.access = { tokens: access.tokens };
    await harness.untilAsTimePasses('the better way', 5_000, () => harness.endpoints.completed === 2);
    await harness.untilWatching();
    expect(harness.endpoints.keys).toEqual(['default/web-1']);
  });
});

function secured(token: string) {
  return { verify: false, user: { token: fixedBytes(Buffer.from(token)) } };
}
