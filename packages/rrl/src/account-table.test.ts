import { describe, expect, it } from 'vitest';
import { AccountTable, type Debit } from './account-table.ts';

function makeTable(more: { readonly slipRatio?: number; readonly maxSize?: number } = {}) {
  let time = 0;
  const table = new AccountTable({
    window: 15_000,
    slipRatio: 0,
    maxSize: 1_000,
    now: () => time,
    ...more,
  });
  const debits = (count: number, name = 'a', interval = 100) =>
    Array.from({ length: count }, () => table.debit(name, interval));
  return {
    table,
    debits,
    pass(milliseconds: number) {
      time += milliseconds;
    },
  };
}

const within = (debits: readonly Debit[]) => debits.filter((debit) => debit === 'within').length;

describe('an account', () => {
  it('allows the rate of a second at once, and then what time credits', () => {
    const { debits, pass } = makeTable();
    expect(within(debits(10))).toBe(10);
    expect(debits(1)).toEqual(['exceeded']);
    pass(1_000);
    // The debt is paid first.
    expect(within(debits(20))).toBe(9);
    expect(within(debits(20, 'b'))).toBe(10);
  });

  it('allows less than one in a second', () => {
    const { debits, pass } = makeTable();
    expect(debits(2, 'a', 2_000)).toEqual(['within', 'exceeded']);
    for (let turn = 0; turn < 3; turn += 1) {
      pass(3_600_000);
      expect(debits(2, 'a', 2_000)).toEqual(['within', 'exceeded']);
    }
  });

  it('is in debt for a window at most, and saves for a second at most', () => {
    const { debits, pass } = makeTable();
    debits(10_000);
    pass(14_900);
    expect(debits(1)).toEqual(['exceeded']);
    pass(15_100);
    expect(debits(1)).toEqual(['within']);
    pass(3_600_000);
    expect(within(debits(100))).toBe(10);
  });

  it('lets every third that exceeds its rate slip through', () => {
    const { debits } = makeTable({ slipRatio: 3 });
    expect(debits(17).slice(10)).toEqual([
      'exceeded',
      'exceeded',
      'slips',
      'exceeded',
      'exceeded',
      'slips',
      'exceeded',
    ]);
  });
});

it('holds no more accounts than its size, and forgets those that nobody used for a window', () => {
  const { table, debits, pass } = makeTable({ maxSize: 3 });
  for (const name of ['a', 'b', 'c']) debits(20, name);
  expect(debits(2, 'd')).toEqual(['no room', 'no room']);
  expect(table.size).toBe(3);
  pass(15_000);
  debits(1, 'a');
  pass(2_000);
  expect(debits(1, 'd')).toEqual(['within']);
  expect(debits(20, 'a')).toContain('exceeded');
  expect(table.size).toBe(3);
});
