import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { RecordingLog } from '../../../test/support/recording-log.ts';
import { WarningLimit } from './warning-limit.ts';

test('one warning a minute, with the number of those that were kept back', () => {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const warnings = new WarningLimit(log, clock);
  for (let count = 0; count < 1000; count += 1) warnings.warn('odd', { object: `a/${count}` });
  clock.advance(60_000);
  warnings.warn('odd', { object: 'a/last' });
  expect(log.records.map(({ fields }) => fields)).toEqual([
    { object: 'a/0', more: 0 },
    { object: 'a/last', more: 999 },
  ]);
  expect(warnings.total).toBe(1001);
});
