import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, test } from 'vitest';
import { PollSchedule } from './poll-schedule.ts';

/** The start times of polls that take no time. */
function run() {
  const clock = new ManualClock();
  const schedule = new PollSchedule(10_000, clock);
  const polls: number[] = [];
  const ended = (async () => {
    while (await schedule.next()) polls.push(clock.monotonic());
  })();
  const pass = async (milliseconds: number) => {
    for (let left = milliseconds; left >= 0; left -= 100) {
      clock.advance(left === milliseconds ? 0 : 100);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { schedule, polls, pass, ended };
}

test('polls at once, then once in a period', async () => {
  const { polls, pass } = run();
  await pass(25_000);
  expect(polls).toEqual([0, 10_000, 20_000]);
});

test('brings one poll forward after a change, and gathers what changes with it', async () => {
  const { schedule, polls, pass } = run();
  await pass(3_000);
  schedule.changed();
  schedule.changed();
  await pass(500);
  schedule.changed();
  await pass(20_000);
  expect(polls).toEqual([0, 3_100, 13_100, 23_100]);
});

test('brings a poll forward again after a period without haste', async () => {
  const { schedule, polls, pass } = run();
  for (let turn = 0; turn < 10; turn += 1) {
    await pass(2_000);
    schedule.changed();
  }
  await pass(100);
  // At most two polls per period.
  expect(polls).toEqual([0, 2_100, 12_100, 14_100]);
});

test('polls at once when it restarts, and brings one poll forward after that', async () => {
  const { schedule, polls, pass } = run();
  await pass(3_000);
  schedule.restart();
  await pass(3_000);
  schedule.changed();
  await pass(20_000);
  expect(polls).toEqual([0, 3_000, 6_100, 16_100]);
});

test('ends when it is stopped', async () => {
  const { schedule, polls, pass, ended } = run();
  await pass(1_000);
  schedule.stop();
  await ended;
  expect(await schedule.next()).toBe(false);
  expect(polls).toEqual([0]);
});
