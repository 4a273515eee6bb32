import { expect, it } from 'vitest';
import { countRejectedItems, ItemFault, ItemGuard, type ItemSource, readItem } from './item-guard.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { RecordingLog } from './testing/recording-log.ts';

function makeGuard(source: ItemSource) {
  const log = new RecordingLog();
  const clock = new ManualClock();
  const guard = new ItemGuard({ source, log, clock });
  const take = (item: string, text: string) =>
    guard.take(
      () => item,
      () => {
        if (text === 'bad') throw new ItemFault('malformed', 'it is bad');
        if (text === 'defect') return (JSON.parse('null') as string).length;
        return text.length;
      },
    );
  return { guard, log, clock, take };
}

/** Counts further rejected items from now on, by reason. */
function countFromNow(source: ItemSource) {
  const countNow = () =>
    new Map(
      countRejectedItems().flatMap((each) =>
        each.source === source ? [[each.reason, each.count] as const] : [],
      ),
    );
  const before = countNow();
  return () =>
    Object.fromEntries(
      Array.from(countNow(), ([reason, count]) => [reason, count - (before.get(reason) ?? 0)]),
    );
}

it('passes over what cannot be read, whatever is thrown, and reads on', () => {
  const { take, log } = makeGuard('etcd');
  const counted = countFromNow('etcd');
  expect(['good', 'bad', 'defect', 'good too'].map((text) => take(text, text))).toEqual([
    4,
    undefined,
    undefined,
    8,
  ]);
  expect(counted()).toEqual({ malformed: 1, 'too-large': 0, unreadable: 0, failed: 1 });
  expect(log.records).toMatchObject([
    {
      level: 'warn',
      message: 'item rejected',
      fields: { source: 'etcd', item: 'bad', problem: 'it is bad' },
    },
  ]);
});

it('shows where the program itself has failed', () => {
  const { take, log } = makeGuard('hosts');
  take('a', 'defect');
  expect(log.records[0]?.fields).toMatchObject({ item: 'a', reason: 'failed' });
  expect(log.records[0]?.fields['stack']).toContain('item-guard.test.ts');
});

it('names an item once, counts it each time, and names it again once it was good', () => {
  const { take, log, clock } = makeGuard('snapshot');
  const counted = countFromNow('snapshot');
  const readLater = (text: string) => {
    take('a', text);
    clock.advance(20_000);
  };
  for (const text of ['bad', 'bad', 'bad']) readLater(text);
  expect(log.records).toHaveLength(1);
  for (const text of ['good', 'bad']) readLater(text);
  expect(log.records).toHaveLength(2);
  expect(counted()).toMatchObject({ malformed: 4 });
});

it('names an item whose first warning was suppressed', () => {
  const { take, log, clock } = makeGuard('zone-file');
  take('a', 'bad');
  take('b', 'bad');
  clock.advance(20_000);
  take('b', 'bad');
  expect(log.records.map(({ fields }) => [fields['item'], fields['suppressed']])).toEqual([
    ['a', undefined],
    ['b', 1],
  ]);
});

it('counts an item in an item once', () => {
  const { guard } = makeGuard('manifests');
  const counted = countFromNow('manifests');
  const outer = guard.take(
    () => 'file',
    () => {
      guard.reject('object', 'malformed', 'odd');
      return 'rest of the file';
    },
  );
  expect(outer).toBe('rest of the file');
  expect([guard.total, counted()['malformed']]).toEqual([1, 1]);
});

it('holds where the name or the report of an item throws too', () => {
  const log = new RecordingLog();
  const fail = () => {
    throw new Error('no name');
  };
  const guard = new ItemGuard({ source: 'config-map', log, clock: new ManualClock(), report: fail });
  expect(guard.take(fail, fail)).toBeUndefined();
  expect(log.records.map(({ message }) => message)).toEqual(['rejected item not reported']);
});

it('remembers a bounded number of names', () => {
  const { take, log, clock } = makeGuard('kubernetes');
  for (let item = 0; item <= 1_000; item += 1) {
    take(String(item), 'bad');
    clock.advance(10_000);
  }
  take('0', 'bad');
  expect(log.records.filter(({ fields }) => fields['item'] === '0')).toHaveLength(2);
});

it('reads what is thrown without words', () => {
  const odd = { toString: undefined };
  const reading = readItem(() => {
    throw odd;
  });
  expect(reading).toMatchObject({ kind: 'rejected', reason: 'failed', problem: 'an error without words' });
});
