import { parseName } from '@portolan/dns/name.ts';
import { encodeName } from '@portolan/dns/name-wire.ts';
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import { expect, it } from 'vitest';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import type { QueryEvent } from './event-reader.ts';
import { FAILURE_OCTETS } from './event-ring.ts';
import { QueryEventRings } from './event-rings.ts';
import { EventTap } from './event-tap.ts';

const CLIENT = { address: '192.0.2.1', port: 5353 };
const ABOUT = { source: 'chain', transport: 'udp' } as const;

interface Given {
  readonly rcode?: number;
  readonly answers?: number;
  readonly type?: number;
  /** Milliseconds. */
  readonly took?: number;
}

function writeResponse(
  name: string,
  { rcode = RCODE.NOERROR, answers = 0, type = TYPE.A }: Given,
): Uint8Array {
  const question = [...encodeName(parseName(name)), 0, type, 0, 1];
  return Uint8Array.from([0, 1, 0x81, 0x80 | rcode, 0, 1, 0, answers, 0, 0, 0, 0, ...question]);
}

/** Servers with the listener of a history. */
function follow() {
  const rings = new QueryEventRings(0);
  const clock = new ManualClock();
  const tap = new EventTap(() => [rings], clock);
  const seen: QueryEvent[] = [];
  let lost = 0;
  const end = tap.followFailures((events, missed) => {
    seen.push(...events);
    lost += missed;
  }, 'cluster.local.');
  const answer = (name: string, given: Given = {}) => {
    const response = writeResponse(name, given);
    const received = rings.main.now() - (given.took ?? 0);
    if (rings.main.wants(response, response.length, received))
      rings.main.add(response, response, CLIENT, { ...ABOUT, received });
  };
  const read = () => {
    clock.advance(1_000);
    return seen
      .splice(0)
      .map(({ question }) => Buffer.from(question).toString('latin1', 1, 1 + (question[0] ?? 0)));
  };
  return { rings, tap, clock, answer, read, end, lost: () => lost };
}

it('has events of failed and of slow answers, and of no other', () => {
  const { answer, read } = follow();
  answer('good.example.', { answers: 1 });
  answer('servfail.example.', { rcode: RCODE.SERVFAIL });
  answer('denied.example.', { rcode: RCODE.NXDOMAIN });
  answer('refused.example.', { rcode: RCODE.REFUSED });
  answer('empty.example.');
  answer('ipv6.example.', { type: TYPE.AAAA });
  answer('slow.example.', { answers: 1, took: 1_200 });
  // In the order in which their queries came.
  expect(read()).toEqual(['slow', 'servfail', 'denied', 'refused', 'empty']);
});

it('has none of names that search lists make', () => {
  const { answer, read } = follow();
  const denied = { rcode: RCODE.NXDOMAIN };
  for (const name of [
    'www.example.com.shop.svc.cluster.local.',
    'WWW.example.com.Cluster.LOCAL.',
    'cart.shop.svc.cluster.local.',
    'db-0.db.shop.svc.cluster.local.',
    '_http._tcp.cart.shop.svc.cluster.local.',
    '10-0-0-1.shop.pod.cluster.local.',
    'cart.example.',
  ])
    answer(name, denied);
  expect(read()).toEqual(['cart', 'db-0', '_http', '10-0-0-1', 'cart']);
});

it('leaves room for errors beside a flood of denials, and says how many were lost', () => {
  const { answer, read, lost } = follow();
  const flood = 10_000;
  for (let number = 0; number < flood; number += 1) answer(`n${number}.example.`, { rcode: RCODE.NXDOMAIN });
  answer('error.example.', { rcode: RCODE.SERVFAIL });
  const seen = read();
  expect(seen.at(-1)).toBe('error');
  expect(seen.length).toBeLessThan(1_000);
  expect(seen.length - 1 + lost()).toBe(flood);
  // The next second has room again.
  answer('later.example.', { rcode: RCODE.NXDOMAIN });
  expect(read()).toEqual(['later']);
});

it('uses a part of the memory, however long it goes on', () => {
  const { answer, read, rings } = follow();
  for (let turn = 0; turn < 100; turn += 1) {
    for (let number = 0; number < 200; number += 1) answer(`n${number}.example.`, { rcode: RCODE.SERVFAIL });
    expect(read()).toHaveLength(200);
  }
  const [memory = new SharedArrayBuffer(0)] = rings.all;
  const records = new Uint8Array(memory).subarray(memory.byteLength - 4 * 2 ** 20);
  expect(records.subarray(FAILURE_OCTETS.USED + 4).every((octet) => octet === 0)).toBe(true);
});

it('sees the events that others want while they watch, and failures alone again afterwards', () => {
  const { answer, read, tap, clock } = follow();
  const watched: number[] = [];
  const end = tap.follow((events) => watched.push(events.length));
  answer('good.example.', { answers: 1 });
  clock.advance(50);
  expect(watched).toEqual([1]);
  expect(read()).toEqual(['good']);
  end();
  answer('good.example.', { answers: 1 });
  answer('bad.example.', { rcode: RCODE.SERVFAIL });
  expect(read()).toEqual(['bad']);
});

it('costs nothing once nobody follows', () => {
  const { rings, end, clock } = follow();
  end();
  expect([rings.main.isOn, clock.pending]).toEqual([false, 0]);
});
