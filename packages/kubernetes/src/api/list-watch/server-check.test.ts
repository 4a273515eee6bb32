import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, test } from 'vitest';
import { ScriptedConnection } from '../../testing/scripted-connection.ts';
import type { Connection } from '../connection/types.ts';
import type { Page } from './list-pages.ts';
import { isOlder } from './resource-version.ts';
import { type CountAt, judge, type Progress, ServerCheck, type ServerFinding } from './server-check.ts';
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
  const server = { remaining: 0, tellsCount: true };
  const connection = new ScriptedConnection(() => ({
    metadata: {
      resourceVersion: '200',
      continue: 'x',
      ...(server.tellsCount ? { remainingItemCount: server.remaining } : {}),
    },
    items: [{}],
  }));
  const api = { connection, clock, log: silentLog, random: () => 0.5, timing: defaultTiming };
  const stop = new AbortController();
  const findings: ServerFinding[] = [];
  const times: number[] = [];
  let provenAt = 0;
  let heardAt = 0;
  const follow = (): Progress => ({ entries: [at('200', 1)], onEntry: () => {}, end() {} });
  const check = new ServerCheck(
    api,
    stop.signal,
    () => ({
      path: '/api/v1/services',
      betterPaths: [],
      follow,
      silence: clock.monotonic() - heardAt,
      heard() {
        heardAt = clock.monotonic();
      },
    }),
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
  expect(clock.monotonic()).toBeGreaterThanOrEqual(10 * 25_000);
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

test('a server that does not say how many there are is asked as rarely as any other', async () => {
  const { clock, connection, server, until, stop } = startCheck();
  server.tellsCount = false;
  await until('five minutes', () => clock.monotonic() >= 300_000);
  expect(connection.paths.length).toBeGreaterThanOrEqual(8);
  expect(connection.paths.length).toBeLessThanOrEqual(12);
  stop.abort();
});

test('a comparison begins after 30 seconds of silence, and fails after 10 without an answer', async () => {
  const clock = new ManualClock();
  const asked: number[] = [];
  const log = new RecordingLog();
  const connection: Connection = {
    kind: 'connection',
    server: 'http://frozen',
    source: 'script',
    request: (_path, options) => {
      asked.push(clock.monotonic());
      return new Promise((_resolve, reject) =>
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason)),
      );
    },
    refreshCredentials() {},
    close() {},
  };
  const stop = new AbortController();
  const api = { connection, clock, log, random: () => 0.5, timing: defaultTiming };
  const subject = () => ({
    path: '/api/v1/services',
    betterPaths: [],
    silence: clock.monotonic(),
    heard() {},
    follow: () => ({ entries: [at('200', 1)], onEntry() {}, end() {} }),
  });
  const check = new ServerCheck(
    api,
    stop.signal,
    subject,
    () => {},
    () => {},
  );
  check.plan();
  await waitUntil('a second one', () => asked.length === 2, { step: () => clock.advance(100) });
  expect(asked[0]).toBe(30_000);
  // 10 s without an answer, and the pause while a server is unreachable.
  expect(asked[1]).toBeGreaterThanOrEqual(41_000);
  expect(asked[1]).toBeLessThan(43_000);
  expect(log.text).toContain('a comparison was not answered in time');
  stop.abort();
});
