import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PlaceRing } from './place-ring.ts';

it('gives out what was put in, the oldest first, however many there are', () => {
  // More than it has room for at first, in one run.
  const step = fc.oneof(
    fc.nat(1500).map((more) => -more),
    fc.nat(2 ** 31 - 1),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const ring = new PlaceRing();
      const expected: { place: number; hash: number; time: number }[] = [];
      let count = 0;
      const push = () => {
        const one = { place: 4 * count, hash: 7 - count, time: 3 * count };
        count += 1;
        ring.push(one.place, one.hash, one.time);
        expected.push(one);
      };
      for (const each of steps) {
        if (each <= 0) for (let more = 0; more <= -each; more += 1) push();
        expect(ring.size).toBe(expected.length);
        expect(ring.oldestTime).toBe(expected[0]?.time ?? Number.POSITIVE_INFINITY);
        for (let left = each; left > 0 && expected.length > 0; left -= 1) {
          const { place, hash } = expected.shift() ?? { place: 0, hash: 0 };
          expect(ring.shift()).toEqual({ place, hash });
        }
      }
      ring.clear();
      expect([ring.size, ring.oldestTime]).toEqual([0, Number.POSITIVE_INFINITY]);
    }),
    { numRuns: 30 },
  );
});
