import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TransientMap } from './transient-map.ts';

it('has what a Map has', () => {
  const key = fc.integer({ min: 0, max: 200 });
  const step = fc.record({ kind: fc.constantFrom('set', 'delete', 'delete', 'clear'), key });
  fc.assert(
    fc.property(fc.array(step, { minLength: 400, maxLength: 400 }), (steps) => {
      const known = new Map<number, string>();
      const map = new TransientMap<number, string>();
      for (const [index, { kind, key }] of steps.entries()) {
        // It is cleared seldom, so that it grows.
        if (kind === 'clear' && key < 10) {
          known.clear();
          map.clear();
        } else if (kind === 'delete') {
          known.delete(key);
          map.delete(key);
        } else {
          known.set(key, `${index}`);
          map.set(key, `${index}`);
        }
        expect(map.size).toBe(known.size);
        expect(map.get(key)).toBe(known.get(key));
      }
      for (let key = 0; key <= 200; key += 1) expect(map.get(key)).toBe(known.get(key));
    }),
    { numRuns: 20 },
  );
});

it('forgets keys without a value, so that it does not grow with all that were ever set', () => {
  const map = new TransientMap<string, string>();
  map.set('stays', 'here');
  let most = 0;
  for (let index = 0; index < 10_000; index += 1) {
    map.set(`key ${index}`, 'value');
    map.delete(`key ${index}`);
    most = Math.max(most, map.vacant);
  }
  expect(most).toBe(64);
  expect([map.size, map.get('stays')]).toEqual([1, 'here']);
});
