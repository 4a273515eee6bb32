import { expect, it } from 'vitest';
import { searchRows } from './search-counts.ts';

it('has rows for namespaces, and one for the ends of names from outside', () => {
  const counts = new Map([
    ['shop', 3],
    ['com', 4],
    ['org', 2],
    ['', 1],
    ['pay', 3],
  ]);
  const isNamespace = (label: string) => ['shop', 'pay'].includes(label);
  expect(searchRows(counts, 3, isNamespace)).toEqual([
    { what: '(others)', count: 7 },
    { what: 'pay', count: 3 },
    { what: 'shop', count: 3 },
  ]);
  expect(searchRows(counts, 1, isNamespace)).toHaveLength(1);
});
