import { expect, it } from 'vitest';
import { formatPriority, formatTimestamp, onOneLine } from './log-line.ts';

it.each([
  ['daemon', 'info', '<30>'],
  ['local0', 'error', '<131>'],
  ['local7', 'debug', '<191>'],
  ['kern', 'warn', '<4>'],
  ['security', 'info', '<38>'],
] as const)('%s at %s is %s', (facility, level, priority) => {
  expect(formatPriority(facility, level)).toBe(priority);
});

it('writes local time as syslog does', () => {
  expect(formatTimestamp(new Date(2026, 0, 3, 4, 5, 6).getTime())).toBe('Jan  3 04:05:06');
  expect(formatTimestamp(new Date(2026, 11, 31, 23, 59, 59).getTime())).toBe('Dec 31 23:59:59');
});

it('keeps control characters out of the log', () => {
  expect(onOneLine('a\nb\u001b[31mc')).toBe('a b [31mc');
});
