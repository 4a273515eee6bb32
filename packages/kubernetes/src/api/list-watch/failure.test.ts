import { expect, test } from 'vitest';
import { toFailure } from './failure.ts';

const NOW = Date.UTC(2026, 0, 1);

test.each([
  [401, 'authentication'],
  [403, 'permission'],
  [404, 'missing-kind'],
  [410, 'expired'],
  [429, 'server'],
  [500, 'server'],
] as const)('%i is %s', (status, kind) => {
  expect(toFailure(status, { message: 'why' }, undefined, NOW)).toMatchObject({
    kind,
    words: `${status} why`,
  });
});

test('a server behind the version we know is expired, whatever its status', () => {
  const body = { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } };
  expect(toFailure(504, body, '1', NOW).kind).toBe('expired');
  expect(toFailure(504, {}, '1', NOW).kind).toBe('server');
});

test.each([
  [404, '404 page not found\n', 'missing-kind', '404 404 page not found'],
  [
    429,
    'Too many requests, please try again later.\n',
    'server',
    '429 Too many requests, please try again later.',
  ],
  [504, '', 'server', '504'],
] as const)('%i in plain text is understood', (status, text, kind, words) => {
  expect(toFailure(status, text, undefined, NOW)).toMatchObject({ kind, words });
});

test.each([
  ['7', 7_000],
  ['Thu, 01 Jan 2026 00:00:07 GMT', 7_000],
  ['Thu, 01 Jan 2025 00:00:07 GMT', 0],
  ['soon', undefined],
  [undefined, undefined],
])('Retry-After: %s', (header, retryAfter) => {
  expect(toFailure(503, undefined, header, NOW)).toMatchObject({ retryAfter });
});

test('the words of the server are cut', () => {
  expect(toFailure(500, { message: 'x'.repeat(10_000) }, undefined, NOW).words).toHaveLength(300);
});
