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
      const live: number[] = [];
      let isListing = false;
      const ring = new PlaceRing((place, hash) => {
        const at = hash === 7 - place / 4 ? live.indexOf(place / 4) : -1;
        // What is listed for long goes behind the others.
        if (isListing && at >= 0) live.push(...live.splice(at, 1));
        return at >= 0;
      });
      let count = 0;
      const list = (into: 'push' | 'noteMoved') => {
        isListing = true;
        ring[into](4 * count, 7 - count);
        isListing = false;
        live.push(count);
        count += 1;
      };
      for (const { more, moved, dropped } of steps) {
        for (let left = more; left > 0; left -= 1) list('push');
        for (const place of moved) if (live.splice(place, 1).length > 0) list('noteMoved');
        expect(ring.size).toBe(live.length);
        for (let left = Math.min(dropped, live.length); left > 0; left -= 1) {
          const oldest = live[0];
          const found: number[] = [];
          const isDropped = ring.dropOldest((place, hash) => {
            if (hash !== 7 - place / 4 || !live.includes(place / 4)) return false;
            found.push(place / 4);
            live.shift();
            ring.noteGone();
            return true;
          });
          expect(isDropped).toBe(true);
          expect(found).toEqual([oldest]);
        }
      }
      ring.clear();
      expect(ring.size).toBe(0);
    }),
    { numRuns: 30 },
  );
});

it('lists no more places than twice the answers, though one is replaced again and again', () => {
  const checked: number[] = [];
  let latest = 0;
  const ring = new PlaceRing((place) => {
    checked.push(place);
    return place === 1 || place === latest;
  });
  ring.push(1, 0);
  ring.push(2, 0);
  for (latest = 3; latest < 10_000; latest++) {
    ring.noteGone();
    ring.push(latest, 0);
  }
  expect(ring.size).toBe(2);
  // All but the last ones have been checked, and are listed no more.
  expect(new Set(checked).size).toBeGreaterThan(9_800);
});
