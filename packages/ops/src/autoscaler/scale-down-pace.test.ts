import { describe, expect, test } from 'vitest';
import { ScaleDownPace } from './scale-down-pace.ts';

const PERIOD = 10_000;

test('without bounds a target goes where it is wanted', () => {
  const pace = new ScaleDownPace({ delay: 0, maxReplicas: 0 }, PERIOD, 0);
  pace.want(3, 0);
  expect([pace.allow('a', 9, 0), pace.allow('a', 1, 0), pace.allow('a', 3, 0)]).toEqual([3, 3, 3]);
});

describe('a delay', () => {
  const DELAY = 60_000;

  test('keeps what was wanted in that time, and hinders no way up', () => {
    const pace = new ScaleDownPace({ delay: DELAY, maxReplicas: 0 }, PERIOD, 0);
    let current = 1;
    const course: number[] = [];
    const wanted = [5, 5, 8, 5, 4, 4, 4, 4, 4, 4, 4, 4];
    for (const [turn, each] of wanted.entries()) {
      const now = DELAY + turn * PERIOD;
      pace.want(each, now);
      current = pace.allow('a', current, now);
      course.push(current);
    }
    // 8 was wanted at the third turn, 5 at the fourth: each holds for six more.
    expect(course).toEqual([5, 5, 8, 8, 8, 8, 8, 8, 8, 5, 4, 4]);
  });

  test('begins with the start, before which nothing is known', () => {
    const pace = new ScaleDownPace({ delay: DELAY, maxReplicas: 0 }, PERIOD, 0);
    pace.want(2, 1_000);
    expect(pace.allow('a', 6, 1_000)).toBe(6);
    pace.want(2, DELAY);
    expect(pace.allow('a', 6, DELAY)).toBe(2);
  });
});

test('a bound on replicas holds for each target and period', () => {
  const pace = new ScaleDownPace({ delay: 0, maxReplicas: 2 }, PERIOD, 0);
  pace.want(1, 0);
  expect(pace.allow('a', 10, 0)).toBe(8);
  pace.scaledDown('a', 0);
  expect([pace.allow('a', 8, 5_000), pace.allow('b', 8, 5_000)]).toEqual([8, 6]);
  expect([pace.allow('a', 8, PERIOD), pace.allow('a', 2, PERIOD)]).toEqual([6, 1]);
});
