import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Latencies } from './latencies.ts';

it('has the upper ends of the original', () => {
  const ends = new Latencies().buckets.map(([end]) => end);
  expect(ends).toEqual([0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]);
});

it('counts each latency in every bucket that holds it', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 20_000, noNaN: true })), (values) => {
      const latencies = new Latencies();
      for (const value of values) latencies.add(value);
      for (const [end, count] of latencies.buckets)
        expect(count).toBe(values.filter((value) => value <= end).length);
      expect(latencies.count).toBe(values.length);
      expect(latencies.sum).toBe(values.reduce((sum, value) => sum + value, 0));
    }),
  );
});
