import { expect, it } from 'vitest';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import type { Answer } from '../../chain/answer.ts';
import type { Chain } from '../../chain/handler.ts';
import { ROOT } from '../../wire/name.ts';
import { Loop } from './loop.ts';

/** @param behind makes the chain behind the handler; it may ask the whole chain again */
function start(behind: (whole: Chain) => Chain) {
  const clock = new ManualClock();
  const found: string[] = [];
  let asked = 0;
  const whole: Chain = (query) => loop.handler.handle(query, behind(whole));
  const chain: Chain = (query) => {
    asked += 1;
    return whole(query);
  };
  const loop = new Loop(
    { zone: ROOT },
    { clock, chain, server: 'dns://:53', onLoop: (message) => void found.push(message) },
  );
  loop.serving();
  const pass = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { found, pass, asked: () => asked };
}

const REFUSED: Answer = { kind: 'refused' };

it('says that a query comes back to us', async () => {
  let turns = 0;
  const { found, pass } = start((whole) => (query) => {
    turns += 1;
    return turns > 5 ? REFUSED : whole(query);
  });
  await pass(0);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(
    /^plugin\/loop: Loop \(127\.0\.0\.1:\d+ -> :53\) detected for zone "\.", see https:\S+ Query: "HINFO \d+\.\d+\."$/,
  );
});

it('says nothing where the query is answered, and tests again while it fails', async () => {
  const { found, pass, asked } = start(() => () => REFUSED);
  await pass(30_000);
  expect([found, asked()]).toEqual([[], 1]);
  const failing = start(() => () => ({ kind: 'servfail' }));
  for (let second = 0; second < 40; second += 1) await failing.pass(1000);
  expect(failing.found).toEqual([]);
  expect(failing.asked()).toBe(30);
});
