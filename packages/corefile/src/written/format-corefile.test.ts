import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTokens } from '../syntax/lexer.ts';
import { startsNewLine } from '../syntax/token.ts';
import { formatCorefile } from './format-corefile.ts';
import { BraceError } from './statements.ts';

const format = (text: string): string => formatCorefile(text, 'Corefile');

/** The words of each line. */
function splitWordLines(text: string): readonly (readonly string[])[] {
  const lines: string[][] = [];
  const tokens = readTokens(text, 'Corefile');
  tokens.forEach((token, place) => {
    const before = tokens[place - 1];
    if (before === undefined || startsNewLine(before, token)) lines.push([]);
    lines.at(-1)?.push(token.text);
  });
  return lines;
}

describe('formatCorefile', () => {
  it('indents by braces, and keeps comments and quotation marks', () => {
    expect(
      format(
        '\ufeff# head\r\n\r\n\r\n.:53   {\n\n\terrors # tail\n   # alone\n forward  .  10.0.0.1   {\n# in\n except "a b"\n\n}\n}\nimport custom/*.server\na.test {\nwhoami\n}\n\n\n',
      ),
    ).toBe(
      [
        '# head',
        '',
        '.:53 {',
        '    errors # tail',
        '    # alone',
        '    forward . 10.0.0.1 {',
        '        # in',
        '        except "a b"',
        '    }',
        '}',
        '',
        'import custom/*.server',
        'a.test {',
        '    whoami',
        '}',
        '',
      ].join('\n'),
    );
  });

  it('keeps words where they are: keys on lines of their own, a quoted word over lines, a file without braces', () => {
    expect(format('a.test,\n b.test\n{\nlog . "x\n  y"  z\n}\n')).toBe(
      'a.test,\nb.test\n{\n    log . "x\n  y" z\n}\n',
    );
    expect(format('.:53\n  whoami\n')).toBe('.:53\nwhoami\n');
    expect(format('')).toBe('');
  });

  it.each([
    ['. {\n    whoami\n', 'Corefile:1: this brace is not closed'],
    ['. {\n    whoami }\n', 'Corefile:2: a closing brace needs a line of its own'],
    ['. { whoami\n}\n', 'Corefile:1: an opening brace ends its line'],
    ['. {\n}\n}\n', 'Corefile:3: this closing brace closes nothing'],
    ['. {\n    log\n    {\n    }\n}\n', 'Corefile:3: this brace follows no word of its line'],
    ['{\n}\n', 'Corefile:1: this server block has no key'],
    ['.\nlog . "x', 'Corefile:2: this quotation mark is not closed'],
  ])('refuses %j', (text, message) => {
    expect(() => format(text)).toThrow(BraceError);
    expect(() => format(text)).toThrow(message);
  });

  it('changes no line of words, and has nothing to do the second time', () => {
    const word = fc.oneof(
      fc.constantFrom(
        '{',
        '}',
        '\n',
        '\n',
        '# note\n',
        'import',
        '(s)',
        '.:53',
        ',',
        '"a\nb"',
        'x#y',
        '\r\n',
      ),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    );
    const line = fc
      .array(fc.constantFrom('log', '.', '"q w"', 'a#b', '{$X}', "it's"), { minLength: 1, maxLength: 4 })
      .map((words) => words.join(' \t'));
    const block = fc.array(line, { maxLength: 5 }).map((lines) => `. {\n${lines.join('\n')}\n}\n`);
    const text = fc.oneof(
      fc.array(word, { maxLength: 30 }).map((words) => words.join(' ')),
      fc.array(block, { maxLength: 4 }).map((blocks) => blocks.join('\n\n')),
    );
    fc.assert(
      fc.property(text, (source) => {
        try {
          const formatted = format(source);
          expect(splitWordLines(formatted)).toEqual(splitWordLines(source));
          expect(format(formatted)).toBe(formatted);
        } catch (error) {
          if (!(error instanceof BraceError)) throw error;
        }
      }),
      { numRuns: 2000 },
    );
  });
});
