import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seed } from './seed.ts';

const below1000 = fc.property(fc.integer(), (value) => value < 1000);

it('fast-check draws from the seed of the run', () => {
  expect(fc.readConfigureGlobal().seed).toBe(seed);
  expect(fc.check(below1000).seed).toBe(seed);
});

it('a failing property prints its seed, path and counterexample', () => {
  expect(() => fc.assert(below1000)).toThrow(
    new RegExp(`\\{ seed: ${seed}, path: "[\\d:]+", endOnFailure: true \\}\\nCounterexample: \\[1000\\]`),
  );
});
