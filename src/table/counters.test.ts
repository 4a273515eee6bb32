import { describe, expect, it } from 'vitest';
import { TYPE } from '../wire/types.ts';
import { CounterSums, Counters } from './counters.ts';
import { countersOf } from './layout.ts';

describe('counters', () => {
  it('sum all readers by type and rcode and by metrics id', () => {
    const memory = new SharedArrayBuffer(2 ** 20);
    const readers = [0, 1].map((reader) => new Counters(new Uint32Array(memory), reader));
    for (const reader of readers) {
      reader.count(TYPE.A, 0, 7);
      reader.count(TYPE.AAAA, 3, 9);
      reader.count(65_280, 0, 7);
      reader.countRejected(1);
    }
    const { byTypeAndRcode, byMetricsId } = new CounterSums(memory, 2).read();
    expect(byTypeAndRcode).toEqual([
      { type: TYPE.A, rcode: 0, count: 2 },
      { type: TYPE.AAAA, rcode: 3, count: 2 },
      { type: undefined, rcode: 0, count: 2 },
      { type: undefined, rcode: 1, count: 2 },
    ]);
    expect([...byMetricsId]).toEqual([
      [7, 4],
      [9, 2],
    ]);
  });

  it('count on past the wrap of a word', () => {
    const memory = new SharedArrayBuffer(2 ** 20);
    const words = new Uint32Array(memory);
    const sums = new CounterSums(memory, 1);
    words[countersOf(0)] = 0xffffffff;
    sums.read();
    new Counters(words, 0).count(TYPE.A, 0, 0);
    new Counters(words, 0).count(TYPE.A, 0, 0);
    expect(sums.read().byTypeAndRcode).toEqual([{ type: TYPE.A, rcode: 0, count: 0xffffffff + 2 }]);
  });
});
