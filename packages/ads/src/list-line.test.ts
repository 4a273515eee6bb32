import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readListLine } from './list-line.ts';

it.each([
  ['0.0.0.0 ads.example.com', ['ads.example.com']],
  ['127.0.0.1\tads.example.com  www.example.com # two', ['ads.example.com', 'www.example.com']],
  ['::1 ads.example.com', ['ads.example.com']],
  ['127.0.0.1 localhost', []],
  ['127.0.0.1 localhost.localdomain', []],
  ['0.0.0.0 0.0.0.0', []],
  ['fe80::1%lo0 localhost', []],
  ['ADS.Example.com.', ['ads.example.com']],
  ['ads.example.com #why', ['ads.example.com']],
  ['bücher.example', ['xn--bcher-kva.example']],
  ['*.example.com', ['example.com and below']],
  ['||example.com^', ['example.com and below']],
  ['||example.com', ['example.com and below']],
  ['||example.com^$important', ['example.com and below']],
  ['@@||good.example.com^', ['not good.example.com and below']],
  ['||example.com^$third-party', []],
  ['||example.com/ads/*', []],
  ['||ads.*^', []],
  ['example.com##.banner', []],
  ['/banner/*', []],
  ['! a comment', []],
  ['# a comment', []],
  ['#', []],
  ['[Adblock Plus 2.0]', []],
  ['', []],
  ['localhost', []],
  ['two words', []],
  ['a..b', []],
  [`${'a'.repeat(64)}.example`, []],
  ['constructor.__proto__', ['constructor.__proto__']],
])('%s', (line, names) => {
  const shown = readListLine(line).map(
    ({ name, withNamesBelow, isPermitted }) =>
      `${isPermitted ? 'not ' : ''}${name}${withNamesBelow ? ' and below' : ''}`,
  );
  expect(shown).toEqual(names);
});

it('gives only names that a question can have, whatever the line', () => {
  const word = fc.oneof(
    fc.constantFrom(
      '||',
      '@@',
      '^',
      '$important',
      '*.',
      '0.0.0.0',
      '::',
      '#',
      '!',
      '.',
      'a.example',
      'ü',
      '\t',
      '%',
    ),
    fc.string({ unit: 'binary-ascii', maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(word), fc.boolean(), (words, isSpaced) => {
      for (const { name } of readListLine(words.join(isSpaced ? ' ' : '')))
        expect(name).toMatch(/^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$/);
    }),
  );
});
