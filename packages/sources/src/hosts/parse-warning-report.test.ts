import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { describe, expect, it } from 'vitest';
import type { HostsFile } from './hosts-source.ts';
import { ParseWarningReport } from './parse-warning-report.ts';

const makeGuard = (log: RecordingLog) => new ItemGuard({ source: 'hosts', clock: new ManualClock(), log });
let files = 0;

function file(path: string): HostsFile {
  files += 1;
  return {
    path,
    digest: `${files}`,
    size: 0,
    read: () => {
      throw new Error('the log cannot be written');
    },
  };
}
const warning = (line: number) => ({ line, kind: 'address', value: 'x' });

describe('bad lines of hosts files', () => {
  it('are told once as long as the file is the same', () => {
    const log = new RecordingLog();
    const report = new ParseWarningReport(log, makeGuard(log));
    const one = file('/one');
    const two = file('/two');
    const readBoth = (first: typeof one, second: typeof two) => {
      report.begin([first, second]);
      report.add(first, warning(1));
      report.add(second, warning(2));
      report.end();
    };
    readBoth(one, two);
    readBoth(one, two);
    expect(log.records.map(({ fields }) => fields)).toEqual([
      { file: '/one', line: 1, bad: 'address', value: 'x' },
      { file: '/two', line: 2, bad: 'address', value: 'x' },
    ]);
    readBoth(one, file('/two'));
    expect(log.records).toHaveLength(3);
  });

  it('are counted where there are too many to read', () => {
    const log = new RecordingLog();
    const report = new ParseWarningReport(log, makeGuard(log));
    const bad = file('/bad');
    report.begin([bad]);
    for (let line = 1; line <= 1000; line += 1) report.add(bad, warning(line));
    report.end();
    expect(log.records).toHaveLength(21);
    expect(log.records.at(-1)?.fields).toEqual({ file: '/bad', more: 980 });
  });
});
