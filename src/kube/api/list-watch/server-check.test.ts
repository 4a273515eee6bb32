import { expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { ManualClock } from '../../../base/testing/manual-clock.ts';
import { waitUntil } from '../../../base/testing/wait-until.ts';
import { ScriptedConnection } from '../../testing/scripted-connection.ts';
import type { Page } from './list-pages.ts';
import { isOlder } from './resource-version.ts';
import { type CountAt, type Finding, judge, type Progress, ServerCheck } from './server-check.ts';
import { defaultTiming } from './timing.ts';

const page = (fields: Partial<Page>): Page => ({
  count: 1,
  resourceVersion: '200',
  next: 'token',
  remaining: 9,
  ...fields,
});

const at = (resourceVersion: string, count: number): CountAt => ({ resourceVersion, count });

test.each([
  ['as many, and the watch is behind', page({}), [at('100', 10)], 'same'],
  ['as many at that version', page({}), [at('100', 8), at('200', 10), at('300', 12)], 'same'],
  ['as many at the version before', page({}), [at('100', 8), at('199', 10), at('300', 12)], 'same'],
  ['as many only before that version', page({}), [at('100', 10), at('200', 12)], 'differs'],
  ['as many only after that version', page({}), [at('100', 8), at('201', 10)], 'differs'],
  ['more, and the watch is behind', page({}), [at('100', 9)], 'behind'],
  ['more', page({}), [at('100', 9), at('200', 9)], 'differs'],
  ['fewer', page({}), [at('100', 11), at('250', 11)], 'differs'],
  ['none', page({ count: 0, next: undefined, remaining: undefined }), [at('100', 0)], 'same'],
  ['one', page({ next: undefined, remaining: undefined }), [at('100', 1)], 'same'],
  ['a number that is not told', page({ remaining: undefined }), [at('100', 11)], 'unknown'],
  ['an older version than the first', page({ resourceVersion: '99' }), [at('100', 10)], 'went-back'],
] as const)('the server has %s: %#', (_what, answer, entries, kind) => {
  expect(judge(answer, entries).kind).toBe(kind);
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

/** A check of an idle watch that holds one object at version 200; the server returns its count. */
function startCheck() {
  const clock = new ManualClock();
  const server = { remaining: 0 };
  const connection = new ScriptedConnection(() => ({
    metadata: { resourceVersion: '200', continue: 'x', remainingItemCount: server.remaining },
    items: [{}],
  }));
  const api = { connection, clock, log: silentLog, random: () => 0.5, timing: defaultTiming };
  const stop = new AbortController();
  const findings: Finding[] = [];
  const times: number[] = [];
  let provenAt = 0;
  const follow = (): Progress => ({ entries: [at('200', 1)], onEntry: () => {}, end() {} });
  const check = new ServerCheck(
    api,
    stop.signal,
    () => ({ path: '/api/v1/services', betterPaths: [], age: clock.monotonic() - provenAt, follow }),
    (asked) => {
      provenAt = asked;
    },
    (finding) => {
      findings.push(finding);
      // A finding leads to a list, which proves the objects current.
      provenAt = clock.monotonic();
      times.push(clock.monotonic());
    },
  );
  check.plan();
  const until = (what: string, condition: () => boolean) =>
    waitUntil(what, condition, { step: () => clock.advance(500) });
  return { clock, connection, server, stop, findings, times, until, age: () => clock.monotonic() - provenAt };
}

test('a quiet watch is compared often enough to be proven current within a minute', async () => {
  const { clock, connection, until, age, stop } = startCheck();
  let oldest = 0;
  await until('ten comparisons', () => {
    oldest = Math.max(oldest, age());
    return connection.paths.length >= 10;
  });
  expect(oldest).toBeLessThan(60_000);
  expect(clock.monotonic()).toBeGreaterThan(10 * 40_000);
  stop.abort();
});

test('a difference is acted on when it is seen twice with the same sign', async () => {
  const { connection, server, findings, until, stop } = startCheck();
  server.remaining = 3;
  await until('a first look', () => connection.paths.length === 1);
  server.remaining = 0;
  await until('a second look', () => connection.paths.length === 3);
  expect(findings).toEqual([]);
  server.remaining = 3;
  await until('a finding', () => findings.length === 1);
  expect(findings).toMatchObject([{ kind: 'differs', words: 'the server has 4 objects, held are 1' }]);
  stop.abort();
});

test('repairs that do not help become rarer', async () => {
  const { clock, server, times, until, stop } = startCheck();
  server.remaining = 5;
  await until('repairs', () => times.length >= 4);
  const gaps = times.map((time, index) => Math.round((time - (times[index - 1] ?? 0)) / 1_000));
  expect(gaps[1]).toBeGreaterThanOrEqual((gaps[0] ?? 0) * 1.5);
  expect(gaps[3]).toBeGreaterThanOrEqual((gaps[2] ?? 0) * 1.5);
  stop.abort();
  expect(clock.pending).toBe(0);
});
