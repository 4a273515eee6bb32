import { expect, it } from 'vitest';
import { describeDefect, describeError } from './describe-error.ts';

const WORDLESS = {
  toString() {
    throw new Error('no text');
  },
};

it.each([
  [new RangeError('too large'), 'too large'],
  ['text', 'text'],
  [undefined, 'undefined'],
  [Object.create(null), 'an error without words'],
  [WORDLESS, 'an error without words'],
])('describes what was thrown', (thrown, words) => {
  expect(describeError(thrown)).toBe(words);
});

it('shows where a defect is', () => {
  expect(describeDefect(new Error('a defect'))).toMatch(/^Error: a defect\n +at .*describe-error\.test\.ts/);
  const bare = new Error('bare');
  Reflect.deleteProperty(bare, 'stack');
  expect(describeDefect(bare)).toContain('bare');
  expect(describeDefect(WORDLESS)).toBe('an error without words');
});
