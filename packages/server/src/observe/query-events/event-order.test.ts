import { QueryEventReader } from '@portolan/kernel/listen/query-events/event-reader.ts';
import { EVENT_MODE } from '@portolan/kernel/listen/query-events/event-ring.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EventOrder, ORDER_WINDOW, type OrderedEvents } from './event-order.ts';

const QUERY = Uint8Array.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0x61, 0, 0, 1, 0, 1]);

/** Adds events by their times; the port tells their number. */
function makeOrder() {
  const rings = new QueryEventRings(0);
  rings.setMode(EVENT_MODE.RESPONSES);
  const reader = new QueryEventReader(rings.ofMain);
  const order = new EventOrder<number>();
  let added = 0;
  const add = (received: number, octets = QUERY.length) => {
    const response = new Uint8Array(octets).fill(added);
    response.set(QUERY.subarray(0, 12));
    const client = { address: '192.0.2.1', port: added };
    rings.main.add(QUERY, response, client, { received, source: 'table', transport: 'udp' });
    reader.drain((event) => order.add(event, event.clientPort));
    added += 1;
  };
  return { order, add };
}

function listEvents(events: OrderedEvents<number>) {
  return Array.from({ length: events.count }, (_, index) => {
    const { received, clientPort, response } = events.at(index);
    expect(events.tagAt(index)).toBe(clientPort);
    expect(new Set(response.subarray(12))).toEqual(new Set([clientPort & 0xff]));
    return { received, clientPort };
  });
}

it('is that of time, over any number of rings, once an event is older than the window', () => {
  const arrivals = fc.array(
    fc.record({ delay: fc.nat(ORDER_WINDOW), step: fc.nat(5), octets: fc.integer({ min: 20, max: 4_000 }) }),
    { maxLength: 100 },
  );
  fc.assert(
    fc.property(arrivals, (events) => {
      const { order, add } = makeOrder();
      const released: { readonly received: number; readonly clientPort: number }[] = [];
      let now = 0;
      for (const { delay, step, octets } of events) {
        now += step;
        add(now - delay, octets);
        released.push(...listEvents(order.release(now)));
      }
      released.push(...listEvents(order.releaseAll()));
      // Events of one time stay as they came.
      expect(released).toEqual(
        released.toSorted((one, other) => one.received - other.received || one.clientPort - other.clientPort),
      );
      expect(released).toHaveLength(events.length);
    }),
  );
});

it('keeps released events until the next release, while others are added', () => {
  const { order, add } = makeOrder();
  for (let time = 0; time < 50; time++) add(time);
  const released = order.release(35);
  for (let time = 0; time < 50; time++) add(time, 4_000);
  expect(listEvents(released).map(({ received }) => received)).toEqual(
    Array.from({ length: 26 }, (_, time) => time),
  );
  expect(listEvents(order.releaseAll())).toHaveLength(74);
});
