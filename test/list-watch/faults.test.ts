/**
 * List and watch with faults of lists and streams: after each fault the objects held are correct again.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { Harness, type HarnessOptions, service } from './harness.ts';

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

/** The waits of a kind from now on, in milliseconds. */
function recordWaits(kind: string): number[] {
  const waits: number[] = [];
  let last = 0;
  harness.watch.onChange(() => {
    const { state } = harness.kind(kind);
    if (state.kind !== 'waiting' || state.until === last) return;
    last = state.until;
    waits.push(state.until - harness.clock.now());
  });
  return waits;
}

describe('a list', () => {
  test('whose token expires in the middle goes on at the latest version, and is made again', async () => {
    await start({ server: { objects: many(600) } });
    await harness.untilWatching();
    harness.double.faults.add({ plural: 'services', continued: true, fault: { kind: 'expire-continue' } });
    for (const watch of harness.double.watches) watch.inject('nonsense\n');
    await harness.untilAsTimePasses('the second list', 100, () => harness.services.completed === 3);
    expect(harness.services.count()).toBe(600);
    expect(harness.services.calls.filter((call) => call === 'listStarted')).toHaveLength(3);
  });

  test.each([
    ['is reset in the middle', { kind: 'reset', afterBytes: 5_000 }],
    ['stops in the middle', { kind: 'stall-body', afterBytes: 5_000 }],
    ['is never answered', { kind: 'stall' }],
    ['is refused with 500', { kind: 'status', status: 500 }],
    ['is not JSON', { kind: 'prefix', text: '<html>' }],
  ] as const)('that %s is made again', async (_what, fault) => {
    await start({ server: { objects: many(600) } });
    harness.double.faults.add({ plural: 'services', verb: 'list', fault });
    await harness.untilAsTimePasses('the list', 1_000, () => harness.services.completed === 1);
    expect(harness.services.count()).toBe(600);
  });

  test('that comes in small pieces is read', async () => {
    await start({ server: { objects: [service('naïve-ünïcode-日本')] } });
    harness.double.faults.add({ plural: 'services', verb: 'list', fault: { kind: 'pieces', size: 7 } });
    await harness.untilWatching();
    expect(harness.services.keys).toEqual(['default/naïve-ünïcode-日本']);
  });

  test('that breaks off forgets nothing that was held', async () => {
    await start({ server: { objects: many(600) } });
    await harness.untilWatching();
    harness.double.faults.add({
      plural: 'services',
      verb: 'list',
      fault: { kind: 'reset', afterBytes: 100 },
    });
    harness.double.delete('Service', 'web-0', 'default');
    await harness.until('the deletion', () => harness.services.count() === 599);
    harness.double.compact();
    harness.double.resetWatches();
    await harness.untilAsTimePasses('the failure', 10, () => harness.state === 'waiting');
    expect(harness.services.count()).toBe(599);
    await harness.untilAsTimePasses('the list', 100, () => harness.services.completed === 2);
  });

  test('with objects that cannot be understood keeps the others and says so once', async () => {
    const odd = (name: string) => ({ ...service(name), spec: 'nothing' }) as unknown as KubernetesObject;
    await start({ server: { objects: [service('good'), odd('bad-1'), odd('bad-2')] } });
    await harness.untilWatching();
    expect(harness.services.keys).toEqual(['default/good']);
    expect(harness.kind('services')).toMatchObject({ malformed: 2, objects: 3 });
    const warnings = harness.log.records.filter(({ level }) => level === 'warn');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.fields).toMatchObject({ object: 'default/bad-1', problem: 'spec is not an object' });
  });
});

describe('back-off', () => {
  test('tries a server that refuses connections each second, and reports the outage once', async () => {
    await start();
    await harness.untilWatching();
    await harness.double.stop();
    const waits = recordWaits('services');
    await harness.untilAsTimePasses('ten tries', 250, () => waits.length >= 10);
    expect(new Set(waits)).toEqual(new Set([1_000]));
    expect(harness.watch.status().reasons.join()).toMatch(/services: no connection: http:.*ECONNREFUSED/);
    expect(harness.watch.status().synced).toBe(true);
    const warnings = harness.log.records.filter(
      ({ level, fields }) => level === 'warn' && fields?.['kind'] === 'services',
    );
    // The loss of the watch, and that no connection can be made.
    expect(warnings.length).toBeLessThanOrEqual(2);
    await harness.double.restart();
    const back = harness.clock.monotonic();
    await harness.untilAsTimePasses('the watch', 250, () => harness.state === 'watching');
    expect(harness.clock.monotonic() - back).toBeLessThan(5_000);
    expect(harness.log.text).toContain('API server followed again');
  });

  test('grows up to 20 seconds in the mean while the server answers with errors', async () => {
    await start();
    await harness.untilWatching();
    harness.double.faults.add({ plural: 'services', times: 1_000, fault: { kind: 'status', status: 500 } });
    harness.double.resetWatches();
    const waits = recordWaits('services');
    await harness.untilAsTimePasses('eight tries', 500, () => waits.length >= 8);
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000, 20_000]);
  });

  test.each([
    ['429', { kind: 'status', status: 429, retryAfter: '20' }],
    ['503', { kind: 'status', status: 503, retryAfter: 'Thu, 01 Jan 2026 00:00:20 GMT' }],
  ] as const)('follows Retry-After with %s, spread over half as long again', async (_status, fault) => {
    await start({ server: { objects: many(1) } });
    harness.double.faults.add({ plural: 'services', verb: 'list', fault });
    await harness.until('the refusal', () => harness.state === 'waiting');
    const { state } = harness.kind('services');
    expect(state.kind === 'waiting' && state.until - harness.clock.now()).toBe(25_000);
    harness.clock.advance(24_999);
    expect(countLists('services')).toBe(1);
    harness.clock.advance(1);
    await harness.until('the list', () => harness.services.completed === 1);
  });

  test('begins again after a watch that stood, even without an event', async () => {
    await start({ server: { bookmarkEvery: 1e9 } });
    await harness.untilWatching();
    harness.double.faults.add({ plural: 'services', times: 5, fault: { kind: 'status', status: 500 } });
    harness.double.resetWatches();
    const waits = recordWaits('services');
    await harness.untilAsTimePasses('a long wait', 500, () => (waits.at(-1) ?? 0) > 10_000);
    await harness.untilAsTimePasses('the watch', 500, () => harness.state === 'watching');
    harness.clock.advance(11_000);
    harness.double.resetWatches();
    await harness.until('the loss', () => harness.state === 'waiting');
    expect(waits.at(-1)).toBe(1_000);
  });

  test('is kept to when a watch ends as soon as it had begun', async () => {
    await start({ server: { objects: many(1) } });
    await harness.untilWatching();
    harness.double.endWatches();
    await harness.until('the wait', () => harness.state === 'waiting');
    expect(harness.kind('services').words).toContain('the watch ended as soon as it had begun');
  });
});

describe('a watch', () => {
  test('that is told 410 in the stream lists again, though the server leaves the stream open', async () => {
    await start({ server: { objects: many(2) } });
    await harness.untilWatching();
    harness.double.resetWatches();
    harness.double.delete('Service', 'web-0', 'default');
    harness.double.put(service('new'));
    harness.double.compact();
    await harness.untilAsTimePasses('a second list', 50, () => harness.services.completed === 2);
    expect(harness.services.keys).toEqual(['default/new', 'default/web-1']);
    await harness.untilWatching();
    await harness.until('the streams that said 410 to be closed', () => harness.double.watches.size === 2);
  });

  test('is not opened again and again by a server that says 410 each time', async () => {
    await start({ server: { objects: many(1) } });
    await harness.untilWatching();
    const expired = '{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}\n';
    harness.double.faults.add({
      plural: 'services',
      verb: 'watch',
      times: 1000,
      fault: { kind: 'prefix', text: expired },
    });
    harness.double.resetWatches();
    await harness.untilAsTimePasses('patience', 10, () => {
      const { state } = harness.kind('services');
      return (
        state.kind === 'waiting' &&
        state.reason.kind === 'server' &&
        state.until - harness.clock.now() > 2_000
      );
    });
    expect(countLists('services')).toBeLessThan(8);
  });

  test('that is cut in the middle of a line goes on from the last whole one', async () => {
    await start({ server: { objects: many(1) } });
    await harness.untilWatching();
    harness.double.put(service('whole'));
    await harness.until('the whole line', () => harness.services.count() === 2);
    for (const watch of harness.double.watches) watch.inject('{"type":"ADDED","object":{"kind":"Serv');
    harness.double.endWatches();
    await harness.until('the wait', () => harness.state === 'waiting');
    harness.double.put(service('next'));
    await harness.untilAsTimePasses('the next one', 50, () => harness.services.count() === 3);
    expect(harness.services.completed).toBe(1);
  });

  test.each([
    ['not JSON', 'nonsense\n'],
    ['not an event', '[1,2,3]\n'],
    ['an event of no known type', '{"type":"SPRING","object":{}}\n'],
  ])('with a line that is %s lists again', async (_what, line) => {
    await start({ server: { objects: many(1) } });
    await harness.untilWatching();
    for (const watch of harness.double.watches) watch.inject(line);
    await harness.untilAsTimePasses('a second list', 50, () => harness.services.completed === 2);
    expect(harness.services.keys).toEqual(['default/web-0']);
  });

  test('whose lines arrive in pieces of one octet is understood', async () => {
    await start({ server: { objects: many(1) } });
    harness.double.faults.add({
      plural: 'services',
      verb: 'watch',
      times: 3,
      fault: { kind: 'pieces', size: 1 },
    });
    await harness.untilWatching();
    harness.double.put(service('日本'));
    await harness.until('the change', () => harness.services.keys.includes('default/日本'));
  });

  test('on a dead connection is noticed when the numbers of objects differ', async () => {
    await start({ server: { objects: many(2), bookmarkEvery: 1e9 } });
    await harness.untilWatching();
    harness.double.freezeConnections();
    harness.double.put(service('missed'));
    const begun = harness.clock.monotonic();
    await harness.untilAsTimePasses('the change', 500, () =>
      harness.services.keys.includes('default/missed'),
    );
    expect(harness.clock.monotonic() - begun).toBeLessThan(120_000);
  });

  test('is never ended for silence alone before its own time is over', async () => {
    await start({ server: { objects: many(1), bookmarkEvery: 1e9 } });
    await harness.untilWatching();
    harness.double.freezeConnections();
    harness.double.put(service('missed'));
    harness.double.delete('Service', 'web-0', 'default');
    const begun = harness.clock.monotonic();
    await harness.untilAsTimePasses('the change', 1_000, () =>
      harness.services.keys.includes('default/missed'),
    );
    expect(harness.clock.monotonic() - begun).toBeGreaterThanOrEqual(285_000);
    expect(harness.clock.monotonic() - begun).toBeLessThan(300_000);
    expect(harness.services.keys).toEqual(['default/missed']);
  });

  test('goes on when a sink fails: the object is passed over, and named', async () => {
    await start({ server: { objects: many(1) } });
    await harness.untilWatching();
    const { upsert } = harness.services;
    harness.services.upsert = () => {
      harness.services.upsert = upsert;
      throw new Error('a mistake in a sink');
    };
    harness.double.put(service('new'));
    harness.double.put(service('newer'));
    await harness.untilAsTimePasses('the next object', 50, () =>
      harness.services.keys.includes('default/newer'),
    );
    expect(harness.services.keys).toEqual(['default/newer', 'default/web-0']);
    expect(harness.services.completed).toBe(1);
    expect(harness.log.records.filter(({ level }) => level === 'warn' || level === 'error')).toHaveLength(1);
  });
});

test('a listener that fails does not end the watch', async () => {
  await start({ server: { objects: many(1) } });
  harness.watch.onChange(() => {
    throw new Error('a mistake in a listener');
  });
  await harness.untilWatching();
  expect(harness.log.records.some(({ level }) => level === 'error')).toBe(true);
});
