import { expect, it } from 'vitest';
import { OutageLog } from './outage-log.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { RecordingLog } from './testing/recording-log.ts';

it('writes one line per outage and state, and one at its end', () => {
  const log = new RecordingLog();
  const clock = new ManualClock();
  const outage = new OutageLog(log, clock, {
    failed: 'server not reachable',
    ended: 'server reachable again',
  });
  outage.ended({ kind: 'services' });
  for (const state of ['network', 'network', 'permission', 'permission', 'network']) {
    outage.failed(state, { kind: 'services' });
    clock.advance(1_500);
  }
  outage.ended({ kind: 'services' });
  outage.ended({ kind: 'services' });
  const shown = log.records.filter(({ level }) => level !== 'debug');
  expect(shown).toEqual([
    { level: 'warn', message: 'server not reachable', fields: { kind: 'services', state: 'network' } },
    { level: 'warn', message: 'server not reachable', fields: { kind: 'services', state: 'permission' } },
    { level: 'warn', message: 'server not reachable', fields: { kind: 'services', state: 'network' } },
    {
      level: 'info',
      message: 'server reachable again',
      fields: { kind: 'services', lasted: '7.5s', failures: 5 },
    },
  ]);
  expect(log.records).toHaveLength(6);
});
