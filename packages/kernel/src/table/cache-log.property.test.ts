/**
 * The log of cached answers under random sizes, limits and readers: it never overwrites an entry that a reader may still read.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CACHED, HEADER, KIND, PAGE_SHIFT, UNIT_SHIFT } from './layout.ts';
import { TableReader } from './reader.ts';
import { addressBody, cachedAddress, query } from './testing/table-answers.ts';
import { TableWriter } from './writer.ts';

const NOW = 1_800_000_000_000;
const NAMES = 40;
const QUERIES = Array.from({ length: NAMES + 1 }, (_, index) => query(`n${index}.example`, 'A'));
const BODIES = Array.from({ length: 61 }, (_, size) =>
  addressBody(new Array<string>(1 + size).fill('192.0.2.1'), 60),
);
const packet = new Uint8Array(4096);

/** The blocks of all cached answers that a reader can find now. */
function findable(memory: SharedArrayBuffer): readonly number[] {
  const words = new Int32Array(memory);
  const index = words[HEADER.INDEX] ?? 0;
  const base = (index >>> 5) << (PAGE_SHIFT - 2);
  const found: number[] = [];
  for (let slot = 0, slots = 2 ** (index & 31); slot < slots; slot++) {
    const place = words[base + slot] ?? 0;
    const block = place << UNIT_SHIFT;
    if (place > 0 && (((words[(block + CACHED.SHAPE) >> 2] ?? 0) >> 8) & 0xff) === KIND.CACHED)
      found.push(block);
  }
  return found;
}

const change = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('cache'), name: fc.nat(NAMES), size: fc.nat(16) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('ask'), name: fc.nat(NAMES), size: fc.constant(0) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('enter', 'leave'), name: fc.nat(0), size: fc.nat(0) }),
  },
);

it('never writes over what a reader may look at, and holds its limits', () => {
  const sizes = fc.record({
    octets: fc.integer({ min: 500, max: 8000 }),
    entries: fc.integer({ min: 2, max: 40 }),
  });
  fc.assert(
    fc.property(
      sizes,
      fc.array(change, { minLength: 100, maxLength: 300 }),
      ({ octets, entries }, changes) => {
        const table = new TableWriter({
          readers: 1,
          reservation: 2 ** 20,
          cacheOctets: octets,
          cacheEntries: entries,
          seed: 7,
        });
        const reader = new TableReader(table.memory, 0);
        reader.setTime(NOW);
        const octetsNow = Buffer.from(table.memory);
        let seen: Map<number, Buffer> | undefined;
        for (const { kind, name, size } of changes) {
          const text = `n${name}.example`;
          if (kind === 'enter' && seen === undefined) {
            reader.enter();
            seen = new Map();
          } else if (kind === 'leave' && seen !== undefined) {
            reader.leave();
            seen = undefined;
          } else if (kind === 'cache') {
            const body = BODIES[size] ?? addressBody([]);
            table.cache({ ...cachedAddress(text, '192.0.2.1', 60), body }, NOW);
          } else if (kind === 'ask') {
            const asked = QUERIES[name];
            packet.set(asked?.packet.subarray(0, 512) ?? []);
            reader.answer(packet, 0, asked?.length ?? 0, packet.length, 'udp');
          }
          if (seen === undefined || kind !== 'cache') continue;
          for (const [block, before] of seen)
            expect(octetsNow.subarray(block, block + before.length).equals(before)).toBe(true);
          for (const block of findable(table.memory)) {
            const end = block + octetsNow.readUInt32LE(block + CACHED.SIZE);
            if (!seen.has(block)) seen.set(block, Buffer.from(octetsNow.subarray(block, end)));
          }
        }
        const { cached, cachedOctets } = table.statistics();
        expect([cached <= entries, cachedOctets <= octets, findable(table.memory).length]).toEqual([
          true,
          true,
          cached,
        ]);
      },
    ),
    { numRuns: 100 },
  );
});
