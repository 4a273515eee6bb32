import { expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { ManualClock } from '../../../base/testing/manual-clock.ts';
import { ScriptedConnection } from '../../testing/scripted-connection.ts';
import { Attempt } from './attempt.ts';
import { type Freshness, listAll } from './list-pages.ts';
import { defaultTiming } from './timing.ts';

async function list(answer: (path: string) => unknown, freshness: Freshness = { kind: 'latest' }) {
  const connection = new ScriptedConnection(answer);
  const clock = new ManualClock();
  const api = { connection, clock, log: silentLog, random: () => 0.5, timing: defaultTiming };
  const items: unknown[] = [];
  const attempt = new Attempt(new AbortController().signal, clock);
  const version = await listAll(api, '/api/v1/services', freshness, attempt, (item) => items.push(item));
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
