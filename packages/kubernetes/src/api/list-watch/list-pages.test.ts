import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, test } from 'vitest';
import { ScriptedConnection } from '../../testing/scripted-connection.ts';
import { ConnectionAttempt } from './attempt.ts';
import { type Failure, ListWatchError } from './failure.ts';
import { type Freshness, PagedList } from './list-pages.ts';
import { defaultTiming } from './timing.ts';

async function list(answer: (path: string) => unknown, freshness: Freshness = { kind: 'latest' }) {
  const connection = new ScriptedConnection(answer);
  const clock = new ManualClock();
  const api = { connection, clock, log: silentLog, random: () => 0.5, timing: defaultTiming };
  const items: unknown[] = [];
  const attempt = new ConnectionAttempt(new AbortController().signal, clock);
  const paged = new PagedList('/api/v1/services', freshness, 0);
  const version = await paged.read(api, attempt, (item) => items.push(item));
  return { version, items, paths: connection.paths };
}

const page = (items: unknown[], next?: string, resourceVersion = '7') => ({
  metadata: { resourceVersion, ...(next === undefined ? {} : { continue: next }) },
  items,
});

test('pages are asked for one after the other; the version is that of the first', async () => {
  const { version, items, paths } = await list((path) =>
    path.includes('continue=a%2Bb') ? page([3], '', '9') : page([1, 2], 'a+b'),
  );
  expect({ version, items }).toEqual({ version: '7', items: [1, 2, 3] });
  expect(paths).toEqual(['/api/v1/services?limit=500', '/api/v1/services?limit=500&continue=a%2Bb']);
});

test.each([
  [{ kind: 'any' }, 'resourceVersion=0'],
  [{ kind: 'not-older-than', resourceVersion: '5' }, 'resourceVersion=5&resourceVersionMatch=NotOlderThan'],
] as const)('%o is asked for whole: %s', async (freshness, query) => {
  const { items, paths } = await list(() => page([1, 2]), freshness);
  expect(items).toEqual([1, 2]);
  expect(paths).toEqual([`/api/v1/services?${query}`]);
});

test('a list without a limit that comes in pages nevertheless is read to its end', async () => {
  const { items } = await list((path) => (path.includes('continue') ? page([2]) : page([1], 'more')), {
    kind: 'any',
  });
  expect(items).toEqual([1, 2]);
});

test('a server that gives the same page forever is found out', async () => {
  await expect(list(() => page([1], 'again'))).rejects.toThrow('the same page again and again');
});

test.each([{ kind: 'Status' }, [], 'text', { metadata: { resourceVersion: '' }, items: [] }])(
  '%o is no list',
  async (answer) => {
    await expect(list(() => answer)).rejects.toThrow('is not a list');
  },
);

/** Reads a list to its end in so many attempts. `answer` gets the path and the number of the request, from 1 on. */
async function listInAttempts(answer: (path: string, request: number) => unknown, attempts: number) {
  const connection = new ScriptedConnection((path) => answer(path, connection.paths.length));
  const clock = new ManualClock();
  const api = { connection, clock, log: silentLog, random: () => 0.5, timing: defaultTiming };
  const items: unknown[] = [];
  const list = new PagedList('/api/v1/services', { kind: 'latest' }, 0);
  const outcomes: string[] = [];
  let version: string | undefined;
  for (let number = 0; number < attempts && version === undefined; number += 1) {
    const attempt = new ConnectionAttempt(new AbortController().signal, clock);
    try {
      version = await list.read(api, attempt, (item) => items.push(item));
    } catch (error) {
      outcomes.push(list.mayGoOn(attempt.explain(error)) ? 'goes on' : 'begins again');
    }
  }
  return { version, items, outcomes, isMixed: list.isMixed, paths: connection.paths };
}

const fail = (failure: Failure) => {
  throw new ListWatchError(failure);
};
const lost: Failure = { kind: 'network', words: 'reset' };
const query = (path: string) => path.slice(path.indexOf('?') + 1);

test('a list that breaks off goes on from its last whole page', async () => {
  const { items, outcomes, paths, version, isMixed } = await listInAttempts((path, request) => {
    if (request === 2 || request === 3 || request === 5) return fail(lost);
    if (path.includes('continue=b')) return page([3]);
    return path.includes('continue=a') ? page([2], 'b', '9') : page([1], 'a');
  }, 9);
  expect({ items, version, isMixed }).toEqual({ items: [1, 2, 3], version: '7', isMixed: false });
  expect(outcomes).toEqual(['goes on', 'goes on', 'goes on']);
  expect(paths.map(query)).toEqual([
    'limit=500',
    'limit=500&continue=a',
    'limit=500&continue=a',
    'limit=500&continue=a',
    'limit=500&continue=b',
    'limit=500&continue=b',
  ]);
});

test('a list that breaks off before its first page begins again', async () => {
  const { outcomes } = await listInAttempts(() => fail(lost), 1);
  expect(outcomes).toEqual(['begins again']);
});

test('a list whose version is gone goes on with the token of the error, and is mixed', async () => {
  const gone: Failure = { kind: 'expired', why: 'too-old', words: '410', continueToken: 'c' };
  const { items, outcomes, paths, version, isMixed } = await listInAttempts((path, request) => {
    // The answer to the token of the error is lost too.
    if (request === 3) return fail(lost);
    if (path.includes('continue=a')) return fail(gone);
    return path.includes('continue=c') ? page([2], '', '30') : page([1], 'a');
  }, 9);
  expect({ items, version, isMixed }).toEqual({ items: [1, 2], version: '30', isMixed: true });
  expect(outcomes).toEqual(['goes on']);
  expect(paths.map(query).slice(1)).toEqual([
    'limit=500&continue=a',
    'limit=500&continue=c',
    'limit=500&continue=c',
  ]);
});

test.each([
  ['is refused twice', { kind: 'server', words: '500' }, ['goes on', 'begins again']],
  [
    'has expired, without a token to go on with',
    { kind: 'expired', why: 'too-old', words: '410' },
    ['begins again'],
  ],
  [
    'cannot be fetched for long',
    { kind: 'unreachable', words: 'refused' },
    ['goes on', 'goes on', 'goes on'],
  ],
] as const)('a list of which a page %s', async (_what, failure, expected) => {
  const { outcomes } = await listInAttempts(
    (path) => (path.includes('continue') ? fail(failure) : page([1], 'a')),
    expected.length,
  );
  expect(outcomes).toEqual(expected);
});
