import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { PROPERTY_NAMES } from '@portolan/kernel/base/testing/property-names.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { expect, it } from 'vitest';
import { readKeptLines } from './stored-config.ts';

function read(...lines: readonly string[]) {
  const log = new RecordingLog();
  const guard = new ItemGuard({ source: 'saved-config', clock: new ManualClock(), log });
  return { texts: readKeptLines(lines, guard), log, rejected: guard.total };
}

it('are keys and their texts, whatever the words', () => {
  const { texts, rejected } = read(...PROPERTY_NAMES.map((name) => JSON.stringify([name, 'x'])));
  expect([...(texts?.keys() ?? [])]).toEqual(PROPERTY_NAMES);
  expect(rejected).toBe(0);
});

it.each(['', 'no JSON', '{}', '["a"]', '["a",1]', 'null'])(
  'are not used in part where one is: %s',
  (line) => {
    const { texts, log, rejected } = read('["a","b"]', line, '["c","d"]');
    expect(texts).toBeUndefined();
    expect(rejected).toBe(1);
    expect(log.records).toMatchObject([{ fields: { source: 'saved-config', item: 'setting 2' } }]);
  },
);
