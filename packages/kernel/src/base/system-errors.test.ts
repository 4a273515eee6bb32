import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeSystemError, findErrorCode, findMeaning } from './system-errors.ts';

function fail(path: string): unknown {
  try {
    return readFileSync(path);
  } catch (error) {
    return error;
  }
}

it.each([
  [fail('/nonexistent/file'), 'ENOENT', 'no such file or directory'],
  [fail('/'), 'EISDIR', 'is a directory'],
  [Object.assign(new Error('odd'), { code: 'EODD' }), 'EODD', 'EODD'],
  [new Error('no code'), undefined, 'Error: no code'],
  ['a text', undefined, 'a text'],
])('describes an error by its code', (error, code, words) => {
  expect([findErrorCode(error), describeSystemError(error)]).toEqual([code, words]);
});

it('has no words for what is no code', () => {
  expect([findMeaning(undefined), findMeaning('timeout'), findMeaning('constructor')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
