/**
 * The duties of a follower of the API server: no unnecessary relists, and no unnoticed stale data.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { Harness, type HarnessOptions, namespace, service, slice } from './harness.ts';

let harness: Harness;

async function start(options: HarnessOptions = {}): Promise<void> {
  harness = await Harness.start(options);
}

afterEach(() => harness.stop());

const many = (count: number) => Array.from({ length: count }, (_, index) => service(`web-${index}`));

const looks = () => harness.double.requests.filter(({ query }) => query.get('limit') === '1').length;

describe('comparisons', () => {
  test('of a store that lags behind 50 changes a second find no difference', async () => {
    await start({
      server: { objects: many(100), watchLag: 100, bookmarkEvery: 60_000 },
      watch: { timing: { checkEvery: 5_000, checkSoon: 1_000 } },
    });
    await harness.untilWatching();
    let change = 0;
    await harness.untilAsTimePasses('forty looks', 20, () => {
      change += 1;
      const name = `new-${change % 200}`;
      // Runs of creations, then runs of deletions: the number of objects is a moving one.
      if (change % 400 < 200) harness.double.put(service(name));
      else harness.double.delete('Service', name, 'default');
      return looks() >= 40;
    });
    expect(harness.kind('services').repairs).toBe(0);
    expect(harness.services.completed).toBe(1);
  });

  test('keep the age of the data below a minute on a quiet cluster with rare bookmarks', async () => {
    const objects = [...many(3), slice('web-1', 'web'), namespace('default')];
    await start({ server: { objects, bookmarkEvery: 170_000 }, kinds: ['namespaces'] });
    await harness.untilWatching();
    let oldest = 0;
    await harness.untilAsTimePasses('half an hour', 500, () => {
      oldest = Math.max(oldest, harness.watch.status().age ?? 0);
      return harness.clock.monotonic() > 1_800_000;
    });
    expect(oldest).toBeLessThan(60_000);
  });

  test('open the watch again when the server was unreachable meanwhile', async () => {
    await start({ server: { objects: many(1), bookmarkEvery: 1e9 } });
    await harness.untilWatching();
    harness.double.freezeConnections();
    harness.double.refuseConnections();
    await harness.untilAsTimePasses('a refused look', 500, () => harness.log.text.includes('ECONNREFUSED'));
    // As many as before, so that no number tells.
    harness.double.put(service('missed'));
    harness.double.delete('Service', 'web-0', 'default');
    await harness.double.listen();
    const back = harness.clock.monotonic();
    await harness.untilAsTimePasses('the change', 100, () => harness.services.keys[0] === 'default/missed');
    expect(harness.clock.monotonic() - back).toBeLessThan(5_000);
    expect(harness.services.completed).toBe(1);
  });
});

describe('refusals', () => {
  test.each([403, 404])('%i, thrice in a row, cost neither position nor API version', async (status) => {
    await start({ server: { objects: [slice('web-1', 'web')] } });
    await harness.untilWatching();
    const fault = { kind: 'status', status } as const;
    harness.double.faults.add({ plural: 'endpointslices', verb: 'watch', times: 3, fault });
    harness.double.resetWatches();
    await harness.until('the loss', () => harness.kind('endpoints').state.kind === 'waiting');
    harness.double.put(slice('web-2', 'web'));
    await harness.untilAsTimePasses('the change', 100, () => harness.endpoints.count() === 2);
    expect(harness.endpoints.completed).toBe(1);
    expect(harness.kind('endpoints').state).toMatchObject({
      path: '/apis/discovery.k8s.io/v1/endpointslices',
    });
  });

  test('for half a minute lead to a worse API version, with a warning', async () => {
    await start({ server: { objects: [slice('web-1', 'web')] } });
    await harness.untilWatching();
    harness.double.serves = ['v1/services', 'v1/endpoints'];
    harness.double.resetWatches();
    await harness.untilAsTimePasses('Endpoints', 100, () => harness.endpoints.completed === 2);
    expect(harness.clock.monotonic()).toBeGreaterThan(10_000);
    const warning = harness.log.records.findLast(({ message }) => message.startsWith('API version not'));
    expect(warning).toMatchObject({ level: 'warn', fields: { path: '/api/v1/endpoints' } });
  });
});

describe('after an outage of 30 seconds the data is current within 5', () => {
  test.each([
    ['slow', 0.999],
    ['usual', 0.5],
    ['quick', 0],
  ])('with %s waits', async (_name, random) => {
    await start({ server: { objects: many(3) }, watch: { random: () => random } });
    await harness.untilWatching();
    await harness.double.stop();
    await harness.untilAsTimePasses('the outage', 100, () => harness.clock.monotonic() >= 30_000);
    harness.double.put(service('new'));
    await harness.double.restart();
    const back = harness.clock.monotonic();
    await harness.untilAsTimePasses('the change', 50, () => harness.services.keys.includes('default/new'));
    expect(harness.clock.monotonic() - back).toBeLessThan(5_000);
  });

  test('though the server has forgotten its history', async () => {
    await start({ server: { objects: many(3) }, watch: { random: () => 0.999 } });
    await harness.untilWatching();
    await harness.double.stop();
    await harness.untilAsTimePasses('the outage', 100, () => harness.clock.monotonic() >= 30_000);
    harness.double.put(service('new'));
    harness.double.compact();
    await harness.double.restart();
    const back = harness.clock.monotonic();
    await harness.untilAsTimePasses('the change', 50, () => harness.services.keys.includes('default/new'));
    expect(harness.clock.monotonic() - back).toBeLessThan(5_000);
  });
});

describe('a server restored from a backup', () => {
  test('that accepts a watch from its future and stays silent is found within a minute', async () => {
    await start({ server: { objects: many(3), firstResourceVersion: 5_000 } });
    await harness.untilWatching();
    harness.double.replaceStore([service('restored')], 100);
    const begun = harness.clock.monotonic();
    await harness.untilAsTimePasses('the list', 500, () => harness.services.keys[0] === 'default/restored');
    expect(harness.clock.monotonic() - begun).toBeLessThan(60_000);
    expect(harness.services.keys).toEqual(['default/restored']);
  });
});
