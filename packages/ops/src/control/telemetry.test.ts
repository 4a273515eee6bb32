import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { expect, it } from 'vitest';
import { logExport } from './telemetry.ts';

it('says once that a collector fails, and once that it takes records again', () => {
  const log = new RecordingLog();
  const events = logExport({ signal: 'logs', endpoint: 'http://c.test/v1/logs' }, log);
  events.sent(5, 0);
  events.failed('status 503');
  events.failed('ECONNREFUSED');
  events.sent(1, 7);
  events.sent(1, 2);
  expect(log.records.map(({ level, message }) => `${level} ${message}`)).toEqual([
    'warn otlp: cannot export',
    'info otlp: exporting again',
    'warn otlp: records dropped, there were too many',
  ]);
});
