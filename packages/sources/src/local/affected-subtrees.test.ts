import { parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import { expect, it } from 'vitest';
import { listBranches } from './affected-subtrees.ts';

const keys = (names: readonly string[]) => names.map((name) => toKey(parseName(name)));

it('a change of names concerns their domains', () => {
  const names = keys(['a.b.example.com.', 'x.example.com.', 'example.org.', 'web.', 'web.']);
  expect(listBranches(names)).toEqual(['example.com.', 'example.org.', 'web.']);
});

it('a change of many domains concerns everything', () => {
  expect(listBranches(keys(Array.from({ length: 17 }, (_, index) => `d${index}.example.`)))).toEqual([ROOT]);
  expect(listBranches([])).toEqual([]);
});
