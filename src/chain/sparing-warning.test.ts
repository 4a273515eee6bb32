import { expect, it } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { RecordingLog } from '../../test/support/recording-log.ts';
import { createSparingWarning } from './sparing-warning.ts';

it('warns once in ten seconds, and says how often it did not', () => {
  const log = new RecordingLog();
  const clock = new ManualClock();
  const warn = createSparingWarning(log, clock, 'something is odd');
  for (const name of ['a.', 'b.', 'c.']) warn({ name });
  clock.advance(10_000);
  warn({ name: 'd.' });
  expect(log.records).toEqual([
    { level: 'warn', message: 'something is odd', fields: { name: 'a.', untold: 0 } },
    { level: 'warn', message: 'something is odd', fields: { name: 'd.', untold: 2 } },
  ]);
});
