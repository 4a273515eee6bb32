import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { ScriptedConnection } from '../../../test/support/scripted-connection.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { silentLog } from '../../ground/log.ts';
import type { Page } from './list-pages.ts';
import { isOlder } from './resource-version.ts';
import { judge, ServerCheck } from './server-check.ts';
import { defaultTiming } from './timing.ts';

const subject = (count: number, resourceVersion = '100') => ({
  path: '/api/v1/services',
  resourceVersion,
  count,
  betterPaths: [],
});

const page = (fields: Partial<Page>): Page => ({
  count: 1,
  resourceVersion: '200',
  next: 'token',
  remaining: 9,
  ...fields,
});

test.each([
  ['as many', page({}), 10, 10, 'same'],
  ['none', page({ count: 0, next: undefined, remaining: undefined }), 0, 0, 'same'],
  ['one', page({ next: undefined, remaining: undefined }), 1, 1, 'same'],
  ['as many as there were when asked', page({}), 10, 12, 'same'],
  ['as many as there are now', page({}), 8, 10, 'same'],
  ['more', page({}), 9, 9, 'differs'],
  ['fewer', page({}), 11, 11, 'differs'],
  ['how many is not told', page({ remaining: undefined }), 11, 11, 'unknown'],
  ['an older version', page({ resourceVersion: '99' }), 10, 10, 'went-back'],
] as const)('%s', (_what, answer, before, after, kind) => {
  expect(judge(answer, subject(before), subject(after)).kind).toBe(kind);
});

test.each([
  ['9', '10', true],
  ['10', '9', false],
  ['10', '10', false],
  ['99999999999999999998', '99999999999999999999', true],
  ['abc', '10', false],
  ['9', 'abc', false],
  ['010', '11', false],
])('%s is older than %s: %s', (version, than, older) => {
  expect(isOlder(version, than)).toBe(older);
});

test('repairs that do not help become rarer, and usual again once all matches', async () => {
  const clock = new ManualClock();
  let remaining = 5;
  const connection = new ScriptedConnection(() => ({
    metadata: { resourceVersion: '200', continue: 'x', remainingItemCount: remaining },
    items: [{}],
  }));
  const api = { connection, clock, log: silentLog, random: () => 0.5, timing: defaultTiming };
  const stop = new AbortController();
  const repairs: number[] = [];
  const check = new ServerCheck(
    api,
    stop.signal,
    () => subject(1),
    () => repairs.push(clock.monotonic()),
  );
  check.plan();
  const untilRepaired = (count: number) =>
    waitUntil('repairs', () => repairs.length >= count, { step: () => clock.advance(1_000) });
  await untilRepaired(4);
  const gaps = repairs.map((at, index) =>
    Math.round((at - (repairs[index - 1] ?? 0)) / defaultTiming.checkEvery),
  );
  expect(gaps).toEqual([1, 2, 4, 8]);
  remaining = 0;
  const looks = connection.paths.length;
  await waitUntil('a look', () => connection.paths.length > looks, { step: () => clock.advance(1_000) });
  remaining = 5;
  const since = clock.monotonic();
  await untilRepaired(5);
  expect(Math.round((clock.monotonic() - since) / defaultTiming.checkEvery)).toBe(1);
  stop.abort();
  expect(clock.pending).toBe(0);
});
