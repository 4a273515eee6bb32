import { TYPE } from '@portolan/dns/types.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DURATION_BOUNDS, QUERY_SIZE_BOUNDS, SIZE_BOUNDS } from './counted.ts';
import { CounterSums } from './counter-sums.ts';
import { Counters } from './counters.ts';
import { COUNTERS, HEADER, UNIT_SHIFT } from './layout.ts';
import { TableWriter } from './writer.ts';

const TRUNCATED = 0x0200;

function makeTableMemory(readers: number): SharedArrayBuffer {
  return new TableWriter({ readers, reservation: 2 ** 20, cacheEntries: 0 }).memory;
}

/** The word at which a reader's counters of an outcome begin. */
function findCounterPage(memory: SharedArrayBuffer, reader: number, outcome: number): number {
  const words = new Uint32Array(memory);
  const directory = ((words[HEADER.COUNTERS] ?? 0) << UNIT_SHIFT) >> 2;
  return (((words[directory + outcome] ?? 0) << UNIT_SHIFT) >> 2) + reader * COUNTERS.WORDS;
}

describe('counters', () => {
  it('sum all readers by type and rcode and by outcome', () => {
    const memory = makeTableMemory(2);
    const readers = [0, 1].map((reader) => new Counters(memory, reader));
    for (const reader of readers) {
      reader.count(TYPE.A, 0x8580, 7, 100);
      reader.count(TYPE.AAAA, 0x8583, 9, 100);
      reader.count(65_280, 0x8580, 7, 100);
      reader.count(0, 1, 0, 12);
    }
    const { byTypeAndRcode, byOutcome } = new CounterSums(memory, 2).read();
    expect(byTypeAndRcode).toEqual([
      { type: TYPE.A, rcode: 0, count: 2 },
      { type: TYPE.AAAA, rcode: 3, count: 2 },
      { type: undefined, rcode: 0, count: 2 },
      { type: undefined, rcode: 1, count: 2 },
    ]);
    expect([...byOutcome]).toEqual([
      [0, 2],
      [7, 4],
      [9, 2],
    ]);
  });

  it('keep questions for PTR apart, and truncated answers', () => {
    const memory = makeTableMemory(1);
    const counters = new Counters(memory, 0);
    counters.count(TYPE.PTR, 0x8183, 8, 80);
    counters.count(TYPE.A, 0x8580 | TRUNCATED, 8, 512);
    counters.count(TYPE.A, 0x8580, 8, 70);
    const { groups } = new CounterSums(memory, 1).read();
    expect(groups).toMatchObject([
      { outcome: 8, pointers: false, count: 2, truncated: 1, octets: 582 },
      { outcome: 8, pointers: true, count: 1, truncated: 0, octets: 80 },
    ]);
    expect(groups.map(({ byRcode }) => [byRcode[0], byRcode[3]])).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  it('count on past the wrap of a word', () => {
    const memory = makeTableMemory(1);
    const words = new Uint32Array(memory);
    const sums = new CounterSums(memory, 1);
    const counters = new Counters(memory, 0);
    counters.count(TYPE.A, 0, 0, 100);
    words[findCounterPage(memory, 0, 0) + COUNTERS.ANSWERS] = 0xffffffff;
    sums.read();
    counters.count(TYPE.A, 0, 0, 100);
    counters.count(TYPE.A, 0, 0, 100);
    expect(sums.read().byTypeAndRcode).toEqual([{ type: TYPE.A, rcode: 0, count: 0xffffffff + 2 }]);
  });

  it('stay within the words of their reader', () => {
    const memory = makeTableMemory(3);
    const before = new Uint32Array(memory).slice();
    const counters = new Counters(memory, 1);
    counters.beginBatch();
    for (const outcome of [0, 15]) {
      counters.count(0, 0, outcome, 1);
      counters.count(TYPE.PTR, 0xffff, outcome, 65_535);
      counters.count(0xffff, 0xffff, outcome, 65_535);
    }
    counters.endBatch(20_000);
    const words = new Uint32Array(memory);
    const pages = [0, 15].map((outcome) => findCounterPage(memory, 1, outcome));
    const isOurs = (word: number) => pages.some((page) => word >= page && word < page + COUNTERS.WORDS);
    const strange = [...words.keys()].filter((word) => words[word] !== before[word] && !isOurs(word));
    expect(strange).toEqual([]);
    expect(new CounterSums(memory, 3).read().groups.map(({ count }) => count)).toEqual([2, 2, 1, 1]);
  });
});

describe('batches', () => {
  it('tell of each answer how long it took', () => {
    const memory = makeTableMemory(1);
    const counters = new Counters(memory, 0);
    const batch = (answers: number, milliseconds: number) => {
      counters.beginBatch();
      for (let index = 0; index < answers; index += 1) counters.count(TYPE.A, 0, 3, 100);
      counters.endBatch(milliseconds);
    };
    batch(5, 0);
    batch(4, 1);
    batch(64, 2);
    batch(1, 30_000);
    const [group] = new CounterSums(memory, 1).read().groups;
    expect(group?.durations).toEqual([9, 64, ...DURATION_BOUNDS.slice(2).map(() => 0), 1]);
    expect(group?.milliseconds).toBe(4 + 128 + 30_000);
  });

  it('believe no clock that was set', () => {
    const memory = makeTableMemory(1);
    const counters = new Counters(memory, 0);
    for (const milliseconds of [-5000, 3_600_000]) {
      counters.beginBatch();
      counters.count(TYPE.A, 0, 3, 100);
      counters.endBatch(milliseconds);
    }
    const [group] = new CounterSums(memory, 1).read().groups;
    expect([group?.milliseconds, group?.durations[0]]).toEqual([0, 2]);
  });
});

it('agree with what was counted, whatever it was', () => {
  const answer = fc.record({
    type: fc.constantFrom<number>(...Object.values(TYPE), 0, 257, 65_535),
    flags: fc.integer({ min: 0, max: 0xffff }),
    outcome: fc.integer({ min: 0, max: 15 }),
    octets: fc.integer({ min: 1, max: 65_535 }),
    queryOctets: fc.oneof(fc.integer({ min: 12, max: 130 }), fc.integer({ min: 12, max: 65_535 })),
    dnssecOk: fc.boolean(),
  });
  const batch = fc.record({ answers: fc.array(answer, { maxLength: 64 }), milliseconds: fc.nat(12_000) });
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 20 }), (batches) => {
      const memory = makeTableMemory(2);
      const readers = [new Counters(memory, 0), new Counters(memory, 1)];
      const sums = new CounterSums(memory, 2);
      for (const [index, { answers, milliseconds }] of batches.entries()) {
        const counters = readers[index % 2];
        counters?.beginBatch();
        for (const { type, flags, outcome, octets, queryOctets, dnssecOk } of answers)
          counters?.count(type, flags, outcome, octets, queryOctets, dnssecOk);
        counters?.endBatch(milliseconds);
        if (index % 3 === 0) sums.read();
      }
      const { groups, queries, byTypeAndRcode } = sums.read();
      const all = batches.flatMap(({ answers, milliseconds }) =>
        answers.map((each) => ({ ...each, milliseconds })),
      );
      expect(total(byTypeAndRcode.map(({ count }) => count))).toBe(all.length);
      for (const group of groups) {
        const own = all.filter(
          ({ type, outcome }) => outcome === group.outcome && (type === TYPE.PTR) === group.pointers,
        );
        expect(group).toMatchObject({
          count: own.length,
          truncated: own.filter(({ flags }) => (flags & TRUNCATED) !== 0).length,
          octets: total(own.map(({ octets }) => octets)),
          milliseconds: total(own.map(({ milliseconds }) => milliseconds)),
          sizes: histogram(
            own.map(({ octets }) => octets),
            SIZE_BOUNDS,
          ),
          durations: histogram(
            own.map(({ milliseconds }) => milliseconds),
            [...DURATION_BOUNDS, Infinity],
          ),
        });
      }
      expect(total(groups.map(({ count }) => count))).toBe(all.length);
      for (const { outcome, ...counted } of queries) {
        const own = all.filter((each) => each.outcome === outcome);
        const sizes = own.map(({ queryOctets }) => queryOctets);
        expect(counted).toEqual({
          octets: total(sizes),
          dnssecOk: own.filter(({ dnssecOk }) => dnssecOk).length,
          sizes: histogram(sizes, [...QUERY_SIZE_BOUNDS, Infinity]),
        });
      }
      expect(queries).toHaveLength(new Set(all.map(({ outcome }) => outcome)).size);
    }),
    { numRuns: 60 },
  );
});

function histogram(values: readonly number[], bounds: readonly number[]): readonly number[] {
  return bounds.map((most, index) => {
    const least = bounds[index - 1] ?? Number.NEGATIVE_INFINITY;
    return values.filter((value) => value > least && value <= most).length;
  });
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
