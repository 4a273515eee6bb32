import { expect, it } from 'vitest';
import { ListedNames } from './listed-names.ts';

it('has names alone, and domains with all names below them', () => {
  const set = new ListedNames();
  set.add('www.example.com', false);
  set.add('ads.example', true);
  expect(
    ['www.example.com', 'ads.example', 'a.ads.example', 'b.a.ads.example'].every((name) => set.has(name)),
  ).toBe(true);
  expect(
    ['example.com', 'a.www.example.com', 'example', 'xads.example', ''].some((name) => set.has(name)),
  ).toBe(false);
  expect(set.size).toBe(2);
});
