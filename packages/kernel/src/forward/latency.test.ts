import { expect, it } from 'vitest';
import { Latency } from './latency.ts';

it('counts what took at most so long, and all together', () => {
  const latency = new Latency();
  for (const milliseconds of [0.5, 1, 1.5, 20, 4999, 60_000]) latency.observe(milliseconds);
  const { buckets, sum, count } = latency.count();
  const below = new Map(buckets);
  expect([0.001, 0.002, 0.01, 0.02, 2, 5].map((end) => below.get(end))).toEqual([2, 3, 3, 4, 4, 5]);
  expect(sum).toBeCloseTo(65.022);
  expect(count).toBe(6);
});
