/**
 * List and watch with a server that has changed: it is down, was restored, refuses, or requires other credentials.
 */
import { fixedBytes } from '@portolan/kubernetes/api/connection/byte-source.ts';
import type { ByteSource } from '@portolan/kubernetes/api/connection/settings.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { Harness, type HarnessOptions, service, slice } from './harness.ts';

let harness: Harness;

async function start(options: HarnessOptions = {}): Promise<void> {
  harness = await Harness.start(options);
}

afterEach(() => harness.stop());

const many = (count: number) => Array.from({ length: count }, (_, index) => service(`web-${index}`));

const countLists = (plural: string) =>
  harness.double.requests.filter(
    ({ verb, plural: of, query }) => verb === 'list' && of === plural && query.get('limit') !== '1',
  ).length;

describe('a server', () => {
  test('gone for long and back with other objects and an older history is listed again', async () => {
    await start({ server: { objects: many(3), firstResourceVersion: 5_000 } });
    await harness.untilWatching();
    await harness.double.stop();
    await harness.untilAsTimePasses('the loss', 100, () => harness.state === 'waiting');
    harness.clock.advance(10 * 60_000);
    expect(harness.services.count()).toBe(3);
    expect(harness.watch.status().age).toBeGreaterThanOrEqual(10 * 60_000);
    await harness.double.restart([service('other')], 10);
    const back = harness.clock.monotonic();
    await harness.untilAsTimePasses(
      'the other objects',
      1_000,
      () => harness.services.keys[0] === 'default/other',
    );
    expect(harness.services.keys).toEqual(['default/other']);
    expect(harness.clock.monotonic() - back).toBeLessThan(60_000);
    expect(harness.kind('services').repairs).toBe(1);
    await harness.untilWatching();
    expect(harness.watch.status().reasons).toEqual([]);
  });

  test('whose events were lost behind a 410 is listed again, deletions included', async () => {
    await start({ server: { objects: many(3) } });
    await harness.untilWatching();
    await harness.double.stop();
    harness.double.delete('Service', 'web-1', 'default');
    harness.double.put(service('new'));
    harness.double.compact();
    await harness.double.restart();
    await harness.untilAsTimePasses('a second list', 100, () => harness.services.completed === 2);
    expect(harness.services.keys).toEqual(['default/new', 'default/web-0', 'default/web-2']);
  });

  test('that lost an event without a word is found out by the check, seen twice', async () => {
    await start({ server: { objects: many(3) } });
    await harness.untilWatching();
    // Removed without an event, as if it had been lost on its way.
    harness.double.store.forget('services', 'default/web-1');
    await harness.untilAsTimePasses('the repair', 1_000, () => harness.services.completed === 2);
    expect(harness.services.keys).toEqual(['default/web-0', 'default/web-2']);
    expect(harness.kind('services').repairs).toBe(1);
    expect(harness.clock.monotonic()).toBeLessThan(400_000);
    const looks = harness.double.requests.filter(
      ({ plural, query }) => plural === 'services' && query.get('limit') === '1',
    );
    expect(looks).toHaveLength(2);
  });

  test('that matches is never listed again for it', async () => {
    await start({ server: { objects: [...many(3), slice('web-1', 'web')] } });
    await harness.untilWatching();
    const looks = () => harness.double.requests.filter(({ query }) => query.get('limit') === '1').length;
    await harness.untilAsTimePasses('many looks', 1_000, () => looks() >= 10);
    expect(harness.services.completed).toBe(1);
    expect(harness.endpoints.completed).toBe(1);
  });

  test('that is behind the version we know (504) is listed without it', async () => {
    await start({ server: { objects: many(1) } });
    await harness.untilWatching();
    const body =
      '{"type":"ERROR","object":{"code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}}\n';
    for (const watch of harness.double.watches) watch.inject(body);
    await harness.untilAsTimePasses('a second list', 50, () => harness.services.completed === 2);
  });

  test('whose bookmark is older than what we know went back, and is listed again', async () => {
    await start({ server: { objects: many(1) } });
    await harness.untilWatching();
    const bookmark = '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"999"}}}\n';
    for (const watch of harness.double.watches) watch.inject(bookmark);
    await harness.untilAsTimePasses('a second list', 1, () => harness.services.completed === 2);
    expect(harness.clock.monotonic()).toBeLessThan(10_000);
  });

  const bookmark = '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1000"}}}\n';
  test.each([
    ['ends a watch-list before its end', { kind: 'end', afterBytes: 0 }],
    ['sends a bookmark before the end of a watch-list', { kind: 'prefix', text: bookmark }],
  ] as const)('that %s is listed in pages instead', async (_what, fault) => {
    await start({ server: { objects: many(1), serves: [] } });
    await harness.until('the refusal', () => harness.state === 'waiting');
    harness.double.faults.add({ plural: 'services', verb: 'watch', fault });
    harness.double.serves = ['v1/services', 'v1/endpoints'];
    harness.double.watchList = true;
    await harness.untilAsTimePasses('the list', 100, () => harness.services.completed === 1);
    expect(countLists('services')).toBe(1);
  });

  test('that never ends the list of a watch-list is listed in pages instead', async () => {
    await start({ server: { objects: many(1), serves: [] } });
    await harness.until('the refusal', () => harness.state === 'waiting');
    harness.double.faults.add({ verb: 'watch', times: 4, fault: { kind: 'stall-body', afterBytes: 0 } });
    harness.double.serves = ['v1/services', 'v1/endpoints'];
    harness.double.watchList = true;
    await harness.untilAsTimePasses('the list', 1_000, () => harness.services.completed === 1);
    expect(countLists('services')).toBeGreaterThan(0);
  });
});

describe('credentials', () => {
  const secured = (token: ByteSource) => ({ verify: false, user: { token } });

  test('a rotated token is read again at the first 401, without a wait', async () => {
    let current = 'first';
    let held = Buffer.from(current);
    const token: ByteSource = {
      read: async () => held,
      expire: () => {
        held = Buffer.from(current);
      },
    };
    const tokens = { first: 'portolan' };
    await start({
      server: { objects: many(1), tls: 'server', access: { tokens } },
      settings: secured(token),
    });
    await harness.untilWatching();
    current = 'second';
    harness.double.access = { tokens: { second: 'portolan' } };
    harness.double.put(service('new'));
    await harness.until('the event', () => harness.services.count() === 2);
    const states: string[] = [];
    harness.watch.onChange(() => states.push(harness.state));
    harness.double.endWatches();
    harness.double.put(service('newer'));
    await harness.untilAsTimePasses('the change', 10, () => harness.services.count() === 3);
    expect(harness.double.requests.some(({ status }) => status === 401)).toBe(true);
    expect(states).not.toContain('waiting');
    expect(harness.log.text).not.toMatch(/first|second/);
  });

  test('a token that is refused for good is told as authentication, and tried again', async () => {
    const access = { tokens: { right: 'portolan' } };
    const token = fixedBytes(Buffer.from('wrong'));
    await start({ server: { tls: 'server', access }, settings: secured(token) });
    await harness.until('the refusal', () => harness.kind('services').state.kind === 'waiting');
    expect(harness.kind('services').words).toBe('not authenticated: 401 Unauthorized');
    harness.double.access = { tokens: { wrong: 'portolan' } };
    await harness.untilAsTimePasses('the list', 100, () => harness.watch.status().synced);
    expect(harness.log.text).not.toContain('wrong');
  });

  test('a permission that lacks is told in the words of the server, and tried again', async () => {
    const access = { tokens: { good: 'limited' }, rules: { limited: [] } };
    const token = fixedBytes(Buffer.from('good'));
    await start({ server: { objects: many(1), tls: 'server', access }, settings: secured(token) });
    await harness.until('the refusals', () =>
      harness.watch.status().kinds.every(({ state }) => state.kind === 'waiting'),
    );
    const [services, slices] = harness.watch.status().reasons;
    expect(services).toMatch(
      /^services: forbidden: 403 services is forbidden: User "limited" cannot (list|watch)/,
    );
    expect(slices).toMatch(/^endpoints: forbidden: 403 endpointslices.discovery.k8s.io is forbidden/);
    harness.double.access = { tokens: access.tokens };
    await harness.untilAsTimePasses('the list', 100, () => harness.watch.status().synced);
  });

  test('a kind that is not served is told so', async () => {
    await start({ server: { serves: ['v1/services'] } });
    await harness.until('the refusal', () => harness.kind('endpoints').state.kind === 'waiting');
    expect(harness.watch.status().reasons).toEqual([
      'endpoints: not served: 404 the server could not find the requested resource',
    ]);
  });
});
