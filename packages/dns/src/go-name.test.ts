import { expect, it } from 'vitest';
import { presentNameAsGo } from './go-name.ts';
import { parseName } from './name.ts';

it('quotes what Go quotes, and numbers the rest', () => {
  const shown = ['a\\032b.example.', '\\000.example.', 'a\\.b.', 'a\\"b.', 'a\\\\032.', 'web.example.'].map(
    (name) => presentNameAsGo(parseName(name)),
  );
  expect(shown).toEqual([
    'a\\ b.example.',
    '\\000.example.',
    'a\\.b.',
    'a\\"b.',
    'a\\\\032.',
    'web.example.',
  ]);
});
