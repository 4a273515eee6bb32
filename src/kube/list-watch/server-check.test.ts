import { expect, test } from 'vitest';
import type { Page } from './list-pages.ts';
import { isOlder } from './resource-version.ts';
import { judge } from './server-check.ts';

const subject = (count: number, resourceVersion = '100') => ({
  path: '/api/v1/services',
  resourceVersion,
  count,
  betterPaths: [],
});

const page = (fields: Partial<Page>): Page => ({
  count: 1,
  resourceVersion: '200',
  next: 'token',
  remaining: 9,
  ...fields,
});

test.each([
  ['as many', page({}), 10, 10, 'same'],
  ['none', page({ count: 0, next: undefined, remaining: undefined }), 0, 0, 'same'],
  ['one', page({ next: undefined, remaining: undefined }), 1, 1, 'same'],
  ['as many as there were when asked', page({}), 10, 12, 'same'],
  ['as many as there are now', page({}), 8, 10, 'same'],
  ['more', page({}), 9, 9, 'differs'],
  ['fewer', page({}), 11, 11, 'differs'],
  ['how many is not told', page({ remaining: undefined }), 11, 11, 'unknown'],
  ['an older version', page({ resourceVersion: '99' }), 10, 10, 'went-back'],
] as const)('%s', (_what, answer, before, after, kind) => {
  expect(judge(answer, subject(before), subject(after)).kind).toBe(kind);
});

test.each([
  ['9', '10', true],
  ['10', '9', false],
  ['10', '10', false],
  ['99999999999999999998', '99999999999999999999', true],
  ['abc', '10', false],
  ['9', 'abc', false],
  ['010', '11', false],
])('%s is older than %s: %s', (version, than, older) => {
  expect(isOlder(version, than)).toBe(older);
});
