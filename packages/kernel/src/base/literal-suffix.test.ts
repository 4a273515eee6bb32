import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findLiteralSuffix } from './literal-suffix.ts';
import { Pattern } from './pattern.ts';

describe('findLiteralSuffix', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['(.*)\\.example\\.com\\.$', '.example.com.'],
    ['^(.+)\\.dev\\.example\\.com\\.?$', '.dev.example.com.'],
    ['^(?:[^.]+\\.){4,}internal\\.cloudapp\\.net\\.$', '.internal.cloudapp.net.'],
    ['^ip-(?P<a>[0-9]*)[.]ip[.]example[.]$', '.ip.example.'],
    ['(.*)\\.example\\.com', undefined],
    ['a|b\\.$', undefined],
    ['(?:a|bb)c\\.$', 'c.'],
    ['(?:xa|ya)\\.\\z', 'a.'],
    ['(?i)FOO\\.$', 'foo.'],
    ['(?i:FOO)BAR\\.$', 'fooBAR.'],
    ['a{3}\\.$', 'aaa.'],
    ['a{2,3}\\.$', 'aa.'],
    ['a*\\.$', '.'],
    ['\\Qa.b\\E\\.$', 'a.b.'],
    ['\\Qa.b\\E+\\.$', '.'],
    ['(^|[.])local[.]$', 'local.'],
    ['[[:alpha:]]x[]a]y\\.$', 'y.'],
    ['', undefined],
    ['$', undefined],
    ['a$|b$', undefined],
    ['(a.$|b.$)', undefined],
    ['(a\\.$|b\\.$)', '.'],
  ];
  for (const [source, suffix] of cases)
    it(`takes from ${JSON.stringify(source)} ${JSON.stringify(suffix)}`, () => {
      expect(findLiteralSuffix(source)).toBe(suffix);
    });

  it('never says too much', () => {
    const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
      piece: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom(
          'a',
          'b',
          '\\.',
          '.',
          '[.]',
          '[ab]',
          '[^a]',
          '\\w',
          '^',
          '$',
          '\\z',
          '\\b',
          '(?i)A',
          '(?i:B)',
          '\\Qa.\\E',
        ),
        tie('pattern').map((inner) => `(${inner})`),
        tie('pattern').map((inner) => `(?:${inner})*`),
        tie('pattern').map((inner) => `(?:${inner})?`),
        tie('pattern').map((inner) => `(?:${inner}){1,2}`),
        fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
      ),
      pattern: fc.array(tie('piece'), { maxLength: 4 }).map((pieces) => pieces.join('')),
    }));
    const label = fc.array(fc.constantFrom('a', 'b', 'ab', 'aab'), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(pattern, label, (source, labels) => {
        const name = `${labels.join('.')}.`;
        for (const anchored of [source, `${source}$`, `${source}\\.$`]) {
          const suffix = findLiteralSuffix(anchored);
          if (suffix !== undefined && new Pattern(anchored).test(name))
            expect(name.endsWith(suffix)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
