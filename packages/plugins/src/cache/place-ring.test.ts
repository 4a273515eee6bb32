import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PlaceRing } from './place-ring.ts';

it('drops the oldest answer that is still there, however many there are', () => {
  // More than it has room for at first, in one run; then answers that move, by their places in the list; then some are dropped.
  const step = fc.record({
    more: fc.nat(1500),
    moved: fc.array(fc.nat(3000), { maxLength: 20 }),
    dropped: fc.nat(1500),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const ring = new PlaceRing();
      const live: number[] = [];
      let count = 0;
      const push = () => {
        live.push(count);
        ring.push(4 * count, 7 - count);
        count += 1;
      };
      for (const { more, moved, dropped } of steps) {
        for (let left = more; left > 0; left -= 1) push();
        for (const place of moved) {
          if (live.splice(place, 1).length === 0) continue;
          ring.noteGone();
          push();
        }
        expect(ring.size).toBe(live.length);
        for (let left = Math.min(dropped, live.length); left > 0; left -= 1) {
          const oldest = live.shift() ?? -1;
          const found: number[] = [];
          ring.dropOldest((place, hash) => {
            const isThere = hash === 7 - oldest && place === 4 * oldest;
            if (isThere) found.push(oldest);
            return isThere;
          });
          expect(found).toEqual([oldest]);
        }
      }
      ring.clear();
      expect(ring.size).toBe(0);
    }),
    { numRuns: 30 },
  );
});
