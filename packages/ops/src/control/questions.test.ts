import { encodeMessage } from '@portolan/dns/message.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { sharedMonotonic } from '@portolan/kernel/listen/query-events/event-ring.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import { EventTap } from '@portolan/kernel/listen/query-events/event-tap.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import { expect, it } from 'vitest';
import { countQuestions } from './questions.ts';
import type { Watcher } from './watch-verbs.ts';

const monotonic = sharedMonotonic();
const RCODE_AT = 3;
const ANSWERS_AT = 7;

function makeWatcher() {
  const rings = new QueryEventRings(1);
  const clock = new ManualClock();
  const tap = new EventTap(() => [rings], clock);
  // No more of them is read.
  const watcher = { server: { tap }, explainer: { domain: 'cluster.local.' }, clock } as unknown as Watcher;
  const add = (name: string, type: 'A' | 'AAAA', rcode: number, answers: number, host = 7) => {
    const query = encodeMessage(makeQuery(name, type));
    const response = Uint8Array.from(query);
    response[RCODE_AT] = rcode;
    response[ANSWERS_AT] = answers;
    const about = { received: monotonic(), source: 'table', transport: 'udp' } as const;
    rings.main.add(query, response, { address: `10.244.0.${host}`, port: 4000 }, about);
  };
  return { watcher, clock, tap, add };
}

async function listRows(rows: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

const ORDER = { kind: 'questions', duration: 1_000 } as const;

it('counts alike questions of its time in one row', async () => {
  const { watcher, clock, tap, add } = makeWatcher();
  // A history reads failures once in a second.
  const end = tap.followFailures(() => {}, 'cluster.local.');
  add('before.example', 'A', 2, 0);
  const rows = listRows(countQuestions(ORDER, watcher, new AbortController().signal));
  await Promise.resolve();
  add('Cart.shop.svc.cluster.local', 'A', 0, 1);
  add('cart.shop.svc.cluster.local', 'A', 0, 1);
  add('cart.shop.svc.cluster.local', 'AAAA', 0, 0);
  add('cart.shop.svc.cluster.local', 'A', 0, 1, 8);
  add('cart.web.svc.cluster.local', 'A', 3, 0);
  add('www.example.com', 'A', 2, 0);
  clock.advance(50);
  clock.advance(950);
  const found = await rows;
  expect(found.slice(0, -1)).toMatchObject(
    [
      ['10.244.0.7', 'cart.shop.svc.cluster.local.', 'A', 'answer', 2],
      ['10.244.0.7', 'cart.shop.svc.cluster.local.', 'AAAA', 'nodata', 1],
      ['10.244.0.8', 'cart.shop.svc.cluster.local.', 'A', 'answer', 1],
      ['10.244.0.7', 'cart.web.svc.cluster.local.', 'A', 'nxdomain', 1],
      ['10.244.0.7', 'www.example.com.', 'A', 'servfail', 1],
    ].map(([client, name, type, outcome, count]) => ({ client, name, type, outcome, count })),
  );
  expect(found.at(-1)).toEqual({ domain: 'cluster.local.', seconds: 1, queries: 6, lost: 0 });
  end();
  expect(tap.sampling).toBeUndefined();
});

it('sends rows before there are too many, and ends with its client', async () => {
  const { watcher, clock, tap, add } = makeWatcher();
  const leaving = new AbortController();
  const rows = countQuestions({ ...ORDER, duration: 60_000 }, watcher, leaving.signal)[
    Symbol.asyncIterator
  ]();
  let hasCome = false;
  const first = rows.next().finally(() => {
    hasCome = true;
  });
  await Promise.resolve();
  for (let turn = 0; !hasCome && turn < 20; turn++) {
    for (let index = 0; index < 1_000; index++) add(`n${turn}-${index}.example`, 'A', 3, 0);
    clock.advance(50);
    // The events of one reading are counted in parts.
    for (let part = 0; part < 20; part++) await new Promise((resolve) => setImmediate(resolve));
  }
  await expect(first).resolves.toMatchObject({ done: false, value: { outcome: 'nxdomain', count: 1 } });
  leaving.abort();
  await rows.return?.();
  expect(tap.sampling).toBeUndefined();
});
