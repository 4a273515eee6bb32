import { expect, it } from 'vitest';
import { parsePastTime } from './past-time.ts';

const NOW = Date.parse('2026-11-29T12:00:00Z');

it.each([
  ['10:15Z', '2026-11-29T10:15:00Z'],
  ['10:15:30Z', '2026-11-29T10:15:30Z'],
  ['10:15+0100', '2026-11-29T09:15:00Z'],
  ['10:15-05:00', '2026-11-28T15:15:00Z'],
  ['23:59Z', '2026-11-28T23:59:00Z'],
  ['0:30+1300', '2026-11-29T11:30:00Z'],
  ['2026-11-28T10:15Z', '2026-11-28T10:15:00Z'],
  ['2026-11-28 10:15+0100', '2026-11-28T09:15:00Z'],
  ['2026-11-28T10:15:20.250Z', '2026-11-28T10:15:20.250Z'],
])('%s is the latest that was', (text, expected) => {
  expect(parsePastTime(text, NOW)).toBe(Date.parse(expected));
});

it('without an offset is in the time zone of the process', () => {
  const time = parsePastTime('10:15', NOW) ?? 0;
  expect([new Date(time).getHours(), new Date(time).getMinutes()]).toEqual([10, 15]);
});

it.each(['', 'noon', '24:00', '10:60', '10:15:61', '2026-13-01T10:15Z', '10', '2026-11-28'])(
  '"%s" is no time',
  (text) => {
    expect(parsePastTime(text, NOW)).toBeUndefined();
  },
);
