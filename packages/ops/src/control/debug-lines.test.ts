import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { expect, it } from 'vitest';
import { BoundedLines, MAX_LINES } from './debug-lines.ts';

it('bounds the lines of a second, and says how many queries had none', () => {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const lines = new BoundedLines(log, clock);
  const take = (count: number) => Array.from({ length: count }, () => lines.take()).filter(Boolean).length;
  expect(take(MAX_LINES * 50)).toBe(MAX_LINES);
  expect(log.records).toEqual([]);
  clock.advance(999);
  expect(take(1)).toBe(0);
  lines.leaveOut(7);
  clock.advance(1);
  expect(take(MAX_LINES)).toBe(MAX_LINES);
  expect(log.records).toMatchObject([
    { level: 'debug', message: 'queries not logged', fields: { queries: MAX_LINES * 49 + 8 } },
  ]);
  lines.end();
  expect(log.records).toHaveLength(1);
});
