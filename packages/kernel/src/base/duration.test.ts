import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, formatElapsed, parseDuration } from './duration.ts';

describe('durations', () => {
  it.each([
    ['0', 0],
    ['250ms', 250],
    ['100us', 0.1],
    ['1ms500us', 1.5],
    ['5s', 5_000],
    ['1.5s', 1_500],
    ['1m30s', 90_000],
    ['24h', 86_400_000],
  ])('reads %s', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each(['', '5', 's', '-5s', '5 s', '5d', '480h1s', 'Infinity', '1e3s'])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('reads what it writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_400_000 }), (milliseconds) => {
        expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
      }),
    );
  });
});

it.each([
  [0, '0ms'],
  [0.3456, '0.35ms'],
  [12.6, '13ms'],
  [2_534, '2.53s'],
  [200_000, '3m20s'],
  [18_120_000, '5h2m'],
])('writes a measured time of %d ms rounded', (milliseconds, text) => {
  expect(formatElapsed(milliseconds)).toBe(text);
});
