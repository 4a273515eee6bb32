import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it } from 'vitest';
import { ChangeNotices } from './change-notices.ts';

it('are one for the changes of a second, and then at most one in five', () => {
  const clock = new ManualClock();
  const began = clock.monotonic();
  const times: number[] = [];
  const notices = new ChangeNotices(clock, () => times.push(clock.monotonic() - began));
  // A change each 200 ms, for 7 s.
  for (let change = 0; change < 35; change += 1) {
    notices.changed();
    clock.advance(200);
  }
  expect(times).toEqual([1_000, 6_000]);
  clock.advance(60_000);
  expect(times).toEqual([1_000, 6_000, 11_000]);
  notices.changed();
  notices.stop();
  notices.changed();
  clock.advance(60_000);
  expect(times).toHaveLength(3);
});
