import { expect, it } from 'vitest';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { type QueryEvent, QueryEventReader } from './event-reader.ts';
import { EVENT_MODE } from './event-ring.ts';
import { QueryEventRings } from './event-rings.ts';
import { EventTap } from './event-tap.ts';

const QUERY = Uint8Array.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0x61, 0, 0, 1, 0, 1]);
const ABOUT = { received: 1, source: 'table', transport: 'udp' } as const;

function makeTap() {
  const rings = new QueryEventRings(1);
  const clock = new ManualClock();
  const tap = new EventTap(() => [rings], clock);
  const seen: number[] = [];
  let lost = 0;
  const listen = () =>
    tap.follow((events: readonly QueryEvent[], missed) => {
      seen.push(...events.map(({ clientPort }) => clientPort));
      lost += missed;
    });
  const add = (port: number) => rings.main.add(QUERY, QUERY, { address: '192.0.2.1', port }, ABOUT);
  return { rings, clock, tap, seen, listen, add, lost: () => lost };
}

it('records events only while somebody watches', () => {
  const { clock, seen, listen, add, rings } = makeTap();
  add(1);
  const end = listen();
  add(2);
  clock.advance(50);
  expect(seen).toEqual([2]);
  end();
  add(3);
  expect(rings.main.isOn).toBe(false);
  listen();
  clock.advance(50);
  expect(seen).toEqual([2]);
});

it('gives a new listener no events from before it listened', () => {
  const { tap, clock, seen, listen, add } = makeTap();
  const failed: number[] = [];
  tap.followFailures(
    (events) => failed.push(...events.map(({ clientPort }) => clientPort)),
    'cluster.local.',
  );
  add(1);
  listen();
  add(2);
  clock.advance(50);
  expect([seen, failed]).toEqual([[2], [1, 2]]);
});

it('leaves the events to their consumer, which sees all of them', () => {
  const { rings, clock, seen, listen, add } = makeTap();
  rings.setMode(EVENT_MODE.QUERIES);
  const logged: number[] = [];
  const log = new QueryEventReader(rings.all[1] ?? new SharedArrayBuffer(64));
  const end = listen();
  add(1);
  clock.advance(50);
  log.drain(({ clientPort }) => logged.push(clientPort));
  add(2);
  log.drain(({ clientPort }) => logged.push(clientPort));
  clock.advance(50);
  expect([seen, logged]).toEqual([
    [1, 2],
    [1, 2],
  ]);
  end();
  expect(rings.main.isOn).toBe(true);
});

it('takes events out where the log is off, so that the ring never fills', () => {
  const { clock, seen, listen, add, lost } = makeTap();
  listen();
  for (let turn = 0; turn < 100; turn++) {
    for (let port = 0; port < 1_500; port++) add(port);
    clock.advance(50);
  }
  expect([seen.length, lost()]).toEqual([150_000, 0]);
});

it('counts what is too much for one reading', () => {
  const { clock, seen, listen, add, lost } = makeTap();
  listen();
  for (let port = 0; port < 5_000; port++) add(port);
  clock.advance(50);
  expect([seen.length, lost()]).toEqual([2_000, 3_000]);
});
