import { expect, it } from 'vitest';
import { RateLimitedWarnings } from './rate-limited-warning.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { RecordingLog } from './testing/recording-log.ts';

const ODD = 'something is odd';

it('warns once in an interval, and says how many were suppressed', () => {
  const log = new RecordingLog();
  const clock = new ManualClock();
  const warnings = new RateLimitedWarnings(log, clock);
  for (const name of ['a.', 'b.', 'c.']) warnings.warn(ODD, { name });
  clock.advance(10_000);
  warnings.warn(ODD, { name: 'd.' });
  clock.advance(10_000);
  warnings.warn(ODD, { name: 'e.' });
  expect(log.records.map(({ fields }) => fields)).toEqual([
    { name: 'a.' },
    { name: 'd.', suppressed: 2 },
    { name: 'e.' },
  ]);
  expect(warnings.total).toBe(5);
});

it('limits each message by itself', () => {
  const log = new RecordingLog();
  const clock = new ManualClock();
  const warnings = new RateLimitedWarnings(log, clock, 60_000);
  for (let turn = 0; turn < 1_000; turn += 1) {
    warnings.warn(ODD);
    warnings.warn('something else is');
  }
  clock.advance(59_999);
  warnings.warn(ODD);
  expect(log.records.map(({ message }) => message)).toEqual([ODD, 'something else is']);
  expect(warnings.total).toBe(2_001);
});
