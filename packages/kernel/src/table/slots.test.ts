import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Arena } from './arena.ts';
import { finishHash } from './hash.ts';
import { HEADER } from './layout.ts';
import { viewTable, WriterMemory } from './memory.ts';
import { Reclaimer } from './reclaim.ts';
import { Slots } from './slots.ts';
import { addressNode, cachedAddress, settings } from './testing/table-answers.ts';
import { TableWriter } from './writer.ts';

function makeSlots(octets = 2 ** 22) {
  const views = viewTable(new SharedArrayBuffer(octets));
  const memory = new WriterMemory(views, new Arena(octets), new Reclaimer(views.atoms, 0));
  const slots = new Slots(memory);
  /** An entry of this hash, with only its first word. */
  const entry = (hash: number): number => {
    const block = memory.arena.take(16);
    views.atoms[block >> 2] = hash;
    return block;
  };
  const find = (hash: number) => slots.find(hash, () => true);
  return { slots, entry, find, views, memory };
}

describe('the index', () => {
  it('holds what was put and not removed, while it moves', () => {
    const change = fc.record({ key: fc.nat(30), kind: fc.constantFrom('put', 'put', 'remove', 'crowd') });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 120 }), fc.integer(), (changes, seed) => {
        const { slots, entry, find } = makeSlots();
        const hashKey = (key: number) => finishHash(key ^ seed);
        const model = new Map<number, number>();
        let crowd = 1000;
        for (const { key, kind } of changes) {
          const slot = find(hashKey(key));
          if (kind === 'crowd')
            for (let more = 0; more < 100; more++) {
              const hash = hashKey(++crowd);
              expect(slots.insert(hash, entry(hash))).toBe(true);
              if (more % 3 === 0) slots.remove(find(hash));
            }
          else if (kind === 'remove' && slot >= 0) {
            slots.remove(slot);
            model.delete(key);
          } else if (kind === 'put') {
            const block = entry(hashKey(key));
            if (slot >= 0) slots.replace(slot, block);
            else expect(slots.insert(hashKey(key), block)).toBe(true);
            model.set(key, block);
          }
        }
        for (let key = 0; key <= 30; key++) {
          const slot = find(hashKey(key));
          expect(slot < 0 ? undefined : slots.blockAt(slot)).toBe(model.get(key));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('moves to a larger one in steps', () => {
    const { slots, entry, memory } = makeSlots(2 ** 24);
    const put = (key: number) => slots.insert(finishHash(key), entry(finishHash(key)));
    const steps: number[] = [];
    for (let key = 1, begun = 0, before = slots.capacity; key < 60_000; key++) {
      const { touched } = memory.arena;
      put(key);
      // Entries take less than a page each; an index takes five at least.
      if (memory.arena.touched - touched >= 5 * 4096) begun = key;
      if (slots.capacity === before) continue;
      steps.push((key - begun + 1) / (before / 256));
      before = slots.capacity;
    }
    expect(steps.length).toBeGreaterThan(2);
    for (const step of steps) expect(step).toBe(1);
  });

  it('does not grow for entries that collide', () => {
    const { slots, entry } = makeSlots();
    const { capacity } = slots;
    const stored = Array.from({ length: 500 }, () => slots.insert(77, entry(77))).filter(Boolean);
    expect([stored.length, slots.capacity]).toEqual([64, capacity]);
    expect(slots.near(77)).toHaveLength(64);
  });

  it('is used for as long as it has free slots when there is no memory for another', () => {
    const { slots, entry, find, memory, views } = makeSlots(2 ** 18);
    const index = views.atoms[HEADER.INDEX];
    const hashes = Array.from({ length: 2500 }, (_, key) => finishHash(key + 1));
    const blocks = hashes.map(entry);
    while (memory.arena.touched + 4096 < 2 ** 18) memory.arena.take(4096);
    expect(hashes.every((hash, key) => slots.insert(hash, blocks[key] ?? 0))).toBe(true);
    expect(views.atoms[HEADER.INDEX]).toBe(index);
    expect(hashes.every((hash) => find(hash) >= 0)).toBe(true);
  });
});

describe('a table whose memory is full', () => {
  it('caches on while slots of its index are free', () => {
    const table = new TableWriter({ readers: 0, reservation: 2 ** 20, cacheOctets: 2 ** 18 });
    const zone = table.defineZone(settings('.'));
    const put = (count: number, addresses: number) => {
      for (let index = 0; index < count; index++)
        table.put(addressNode(`n${index}-${addresses}`, zone, new Array(addresses).fill('10.0.0.1')));
    };
    put(2047, 1);
    expect(() => put(1000, 500)).toThrow(/the answer table is full/);
    const answers = Array.from({ length: 500 }, (_, index) =>
      cachedAddress(`n${index}.com`, '192.0.2.1', 60),
    );
    expect(answers.every((answer) => table.cache(answer, 1_800_000_000_000))).toBe(true);
  });
});
