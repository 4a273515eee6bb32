import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { ScriptedConnection } from '../../../test/support/scripted-connection.ts';
import { silentLog } from '../../ground/log.ts';
import { Attempt } from './attempt.ts';
import { listPages } from './list-pages.ts';
import { defaultTiming } from './timing.ts';

async function list(answer: (path: string) => unknown) {
  const connection = new ScriptedConnection(answer);
  const clock = new ManualClock();
  const api = { connection, clock, log: silentLog, random: () => 0.5, timing: defaultTiming };
  const items: unknown[] = [];
  const attempt = new Attempt(new AbortController().signal, clock);
  const version = await listPages(api, '/api/v1/services', 2, attempt, (item) => items.push(item));
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
  expect(paths).toEqual(['/api/v1/services?limit=2', '/api/v1/services?limit=2&continue=a%2Bb']);
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
