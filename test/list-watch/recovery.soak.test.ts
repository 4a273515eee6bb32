/**
 * Lists that break off, and a server that falls silent: lists go on where they were, and silence is noticed.
 */
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { describeCluster } from '../../bench/cluster.ts';
import { makeObjects } from '../../bench/kubernetes-objects.ts';
import { Harness, type HarnessOptions, service } from './harness.ts';
import { InterruptingRelay } from './interrupting-relay.ts';

let harness: Harness;

async function start(options: HarnessOptions = {}): Promise<void> {
  harness = await Harness.start(options);
}

afterEach(() => harness.stop());

const many = (count: number) => Array.from({ length: count }, (_, index) => service(`web-${index}`));

/** The requests that read services, without what is the same in all. */
const readings = () =>
  harness.double.requests
    .filter(({ plural, query }) => plural === 'services' && query.get('limit') !== '1')
    .map(({ verb, query }) => {
      if (verb === 'watch') return query.has('sendInitialEvents') ? 'stream' : 'watch';
      if (query.has('continue')) return 'next page';
      return query.has('limit') ? 'first page' : 'all';
    });

const reset = (afterBytes: number) => ({ kind: 'reset', afterBytes }) as const;

describe('a list that breaks off', () => {
  test('is read in pages then, each of them once', async () => {
    await start({ server: { objects: many(1201) } });
    harness.double.faults.add({ plural: 'services', verb: 'list', fault: reset(50_000) });
    harness.double.faults.add({ plural: 'services', verb: 'list', continued: true, fault: reset(5_000) });
    await harness.untilAsTimePasses('the list', 100, () => harness.state === 'watching');
    expect(harness.services.count()).toBe(1201);
    expect(readings()).toEqual([
      'stream',
      'all',
      'first page',
      'next page',
      'next page',
      'next page',
      'watch',
    ]);
    expect(harness.services.calls.filter((call) => call === 'listStarted')).toHaveLength(2);
    expect(harness.services.completed).toBe(1);
  });

  test('is read in pages where it came as a stream, and as a stream again the next time', async () => {
    await start({ server: { objects: many(1201), watchList: true } });
    await harness.untilWatching();
    harness.double.faults.add({ plural: 'services', verb: 'watch', fault: reset(50_000) });
    for (const watch of harness.double.watches) watch.inject('nonsense\n');
    await harness.untilAsTimePasses('a second list', 100, () => harness.services.completed === 2);
    expect(readings()).toEqual(['stream', 'stream', 'first page', 'next page', 'next page']);
    await harness.untilWatching();
    for (const watch of harness.double.watches) watch.inject('nonsense\n');
    await harness.untilAsTimePasses('a third list', 100, () => harness.services.completed === 3);
    expect(readings().slice(5)).toEqual(['watch', 'stream']);
  });

  test('for as long as its version lives is given up for the latest one, and then read once more', async () => {
    await start({ server: { objects: many(1201) } });
    const list = { plural: 'services', verb: 'list' } as const;
    harness.double.faults.add({ ...list, fault: reset(50_000) });
    harness.double.faults.add({ ...list, continued: true, fault: reset(0) });
    await harness.untilAsTimePasses('the first page', 50, () => readings().includes('next page'));
    await harness.until('the loss', () => harness.state === 'waiting');
    // Before and after the place where it broke off.
    harness.double.delete('Service', 'web-0', 'default');
    harness.double.delete('Service', 'web-999', 'default');
    harness.double.put(service('a-new'));
    harness.double.put(service('web-new'));
    harness.double.compact();
    await harness.untilAsTimePasses('all names', 50, () => harness.services.completed === 1);
    // Its later pages are as of now.
    expect(harness.services.keys).toContain('default/web-new');
    expect(harness.services.keys).not.toContain('default/web-999');
    expect(harness.services.keys).toContain('default/web-0');
    await harness.untilAsTimePasses('all of one version', 50, () => harness.state === 'watching');
    expect(harness.services.keys).toContain('default/a-new');
    expect(harness.services.keys).not.toContain('default/web-0');
    expect(harness.services.count()).toBe(1201);
    const pages = ['first page', 'next page', 'next page'];
    expect(readings().slice(2)).toEqual([...pages, 'next page', 'next page', ...pages, 'watch']);
  });
});

test('10,000 services and 38,000 endpoints are listed within 30 s while connections live for 3 to 8 s', async () => {
  const clock = new ManualClock();
  const shape = { services: 10_000, endpoints: 38_000 };
  const objects = [...makeObjects(describeCluster(shape))];
  const slices = objects.filter(({ kind }) => kind === 'EndpointSlice');
  const rate = 2_000_000;
  const kills = [3_000, 8_000, 5_500, 4_000, 7_000];
  // No connection lives for as long as all slices take.
  expect(JSON.stringify(slices).length / rate).toBeGreaterThan(Math.max(...kills) / 1000);
  const relay = await InterruptingRelay.start(clock, { rate, kills });
  try {
    await start({ clock, server: { objects }, settings: { server: relay.url } });
    relay.forwardTo(harness.double.port);
    const isListed = () => harness.watch.status().synced;
    // Five times as fast as the sockets' own time, and at most 10 ms a turn where the machine is busy.
    let last = performance.now();
    let due = 0;
    const step = () => {
      const now = performance.now();
      due += Math.min(10, (now - last) * 5);
      last = now;
      if (due >= 1) clock.advance(Math.floor(due));
      due %= 1;
    };
    await waitUntil('all names', isListed, { deadline: 100_000, step });
    expect(clock.monotonic()).toBeLessThan(30_000);
    expect(relay.killed).toBeGreaterThan(3);
    expect(harness.services.count()).toBe(shape.services);
    expect(harness.endpoints.count()).toBe(slices.length);
  } finally {
    await relay.stop();
  }
}, 120_000);

describe('silence', () => {
  const warnings = () =>
    harness.log.records.filter(({ level, fields }) => level === 'warn' && fields?.['kind'] === 'services');

  test('of a frozen server is a state, a warning and a line after 90 s, until it answers again', async () => {
    await start({ server: { objects: many(3) }, watch: { timing: { checkAnswer: 10_000 } } });
    await harness.untilWatching();
    const began = harness.clock.monotonic();
    harness.double.freeze();
    await harness.untilAsTimePasses('the silence', 100, () => harness.state === 'silent');
    expect(harness.clock.monotonic() - began).toBeLessThan(91_000);
    expect(warnings().map(({ fields }) => fields?.['state'])).toEqual(['silent']);
    const { reasons, silences } = harness.watch.status();
    expect(reasons[0]).toMatch(/^services: silent/);
    expect(silences[0]).toMatch(/^services: nothing heard from the API server for 1m30/);
    harness.double.thaw();
    harness.double.put(service('meanwhile'));
    const back = harness.clock.monotonic();
    await harness.untilAsTimePasses('the change', 100, () =>
      harness.services.keys.includes('default/meanwhile'),
    );
    expect(harness.clock.monotonic() - back).toBeLessThan(20_000);
    await harness.untilAsTimePasses('all kinds', 100, () => harness.watch.status().reasons.length === 0);
    expect(harness.watch.status().silences).toEqual([]);
    expect(warnings()).toHaveLength(1);
  });

  test('of a server that is gone is a line too, beside its own state', async () => {
    await start({ server: { objects: many(3) } });
    await harness.untilWatching();
    await harness.double.stop();
    const hasLine = () => harness.watch.status().silences.length === 2;
    await harness.untilAsTimePasses('the line', 500, hasLine);
    expect(harness.state).toBe('waiting');
    expect(harness.watch.status().silences[0]).toMatch(/^services: .*: no connection: /);
  });

  test('is not reported for a watch while comparisons are answered', async () => {
    await start({ server: { objects: many(3), bookmarkEvery: 1e9 } });
    await harness.untilWatching();
    const states = new Set<string>();
    harness.watch.onChange(() => states.add(harness.state));
    await harness.untilAsTimePasses('ten minutes', 500, () => harness.clock.monotonic() > 600_000);
    expect(states).not.toContain('silent');
    expect(warnings()).toEqual([]);
  });
});
