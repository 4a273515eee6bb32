import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it } from 'vitest';
import { type HttpRoute, PLAIN_TEXT } from './http-route.ts';
import { SharedReplies } from './http-shared-replies.ts';

/** A page that takes four milliseconds to render and counts its renderings. */
function startPage() {
  const clock = new ManualClock();
  const page = { writes: 0 };
  const route: HttpRoute = async () => {
    page.writes += 1;
    clock.advance(4);
    return { status: 200, type: PLAIN_TEXT, body: String(page.writes) };
  };
  return { clock, page, route, replies: new SharedReplies(clock) };
}

it('each request has a reply of its own while there are few', async () => {
  const { clock, page, route, replies } = startPage();
  for (let request = 0; request < 200; request += 1) {
    clock.advance(50);
    await replies.reply(route);
  }
  expect(page.writes).toBe(200);
});

it('a flood of requests takes a tenth of the time', async () => {
  const { clock, page, route, replies } = startPage();
  const end = clock.monotonic() + 10_000;
  while (clock.monotonic() < end) {
    await replies.reply(route);
    clock.advance(0.5);
  }
  // Per second: 50 separate replies, then one per 40 milliseconds.
  expect(page.writes).toBeGreaterThan(10 * 50);
  expect(page.writes).toBeLessThanOrEqual(10 * (50 + 25));
});

it('requests wait for one reply that is being written', async () => {
  const { page, route, replies } = startPage();
  const all = await Promise.all(Array.from({ length: 300 }, () => replies.reply(route)));
  expect(page.writes).toBe(51);
  expect(new Set(all.map(({ body }) => body)).size).toBe(51);
});

it('what is sent in pieces, or fails, is not shared', async () => {
  const replies = new SharedReplies(new ManualClock());
  let calls = 0;
  const inPieces: HttpRoute = () => {
    calls += 1;
    return { status: 200, type: PLAIN_TEXT, body: (async function* () {})() };
  };
  for (let request = 0; request < 100; request += 1) await replies.reply(inPieces);
  expect(calls).toBe(100);
  const failing: HttpRoute = () => Promise.reject(new Error('no'));
  await expect(replies.reply(failing)).rejects.toThrow('no');
});
