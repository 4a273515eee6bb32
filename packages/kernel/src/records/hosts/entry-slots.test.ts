import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EntrySlots } from './entry-slots.ts';
import { HASH_MASK, PLACE_MASK } from './layout.ts';

function find(slots: EntrySlots, hash: number): readonly number[] {
  const found: number[] = [];
  for (let slot = slots.first(hash); slots.at(slot) !== 0; slot = slots.next(slot))
    if (((slots.at(slot) ^ hash) & HASH_MASK) === 0) found.push(slots.at(slot) & PLACE_MASK);
  return found;
}

it.each(['notes hashes', 'hashes entries again'])(
  'finds all entries while it grows, fits and moves, where it %s',
  (how) => {
    const hashes = fc.array(fc.integer(), { maxLength: 400 });
    fc.assert(
      fc.property(hashes, fc.nat(1000), (added, expected) => {
        const hashKey = (entry: number) => added[entry - 1] ?? 0;
        const slots = new EntrySlots(expected, how === 'notes hashes' ? undefined : hashKey);
        const check = () => {
          for (const [place, hash] of added.slice(0, slots.count).entries())
            expect(find(slots, hash)).toContain(place + 1);
        };
        for (const [place, hash] of added.entries()) slots.add(hash, place + 1);
        check();
        const count = slots.fit();
        expect(slots.count).toBe(added.length);
        expect(count).toBeLessThanOrEqual(Math.max(16, (added.length * 8) / 3));
        check();
        slots.moveTo(new Int32Array(new SharedArrayBuffer(count * 4)));
        check();
      }),
    );
  },
);
