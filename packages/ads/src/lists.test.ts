import { readFile, rm, writeFile } from 'node:fs/promises';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { STORED_ANSWERS } from '@portolan/plugin';
import { BLOCK, makeContext, makeUse } from '@portolan/testing/uses.ts';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Lists } from './lists.ts';
import { readOptions } from './options.ts';

const URL_TEXT = 'http://lists.example/hosts';
const DAY = 86_400_000;

/** Waits end when the test says so. @param fetched what servers give, one after the other */
function makeLists(lines: readonly string[], fetched: readonly (string | Error)[] = [], store?: string) {
  const context = makeContext();
  const waits: { readonly milliseconds: number; end(): void }[] = [];
  const answers = [...fetched];
  const asked: string[] = [];
  const lists = new Lists(
    { ...readOptions([makeUse('ads', ...lines)], BLOCK), store },
    {
      log: context.log,
      changed: context.use(STORED_ANSWERS).drop,
      now: () => 10 * DAY,
      async fetchList(url) {
        asked.push(url);
        const answer = answers.shift() ?? new Error('nothing more');
        if (answer instanceof Error) throw answer;
        return answer;
      },
      wait: (milliseconds, signal) =>
        new Promise((resolve, reject) => {
          waits.push({ milliseconds, end: () => resolve(undefined) });
          const abort = () => reject(new Error('aborted'));
          if (signal.aborted) abort();
          else signal.addEventListener('abort', abort);
        }),
    },
  );
  onTestFinished(() => lists.stop());
  /** Ends the next wait. */
  const pass = async () => {
    await vi.waitFor(() => expect(waits).not.toHaveLength(0), 10_000);
    const next = waits.shift();
    next?.end();
    return next?.milliseconds;
  };
  return { lists, asked, waits, pass, context };
}

it('permits before it blocks, by names, patterns and lists', async () => {
  const folder = await makeTemporaryFolder();
  const blocked = await folder.write(
    'blocked',
    '0.0.0.0 ads.example\n||shop.example^\n@@||good.shop.example^\n',
  );
  const permitted = await folder.write('permitted', 'www.shop.example\n');
  const { lists } = makeLists([
    `blacklist file://${blocked}`,
    `whitelist file://${permitted}`,
    'block spy.example',
    'block-regex ^ads[0-9]\\.',
    'permit-regex ^ads7\\.',
    'permit ads.free.example',
  ]);
  await lists.start();
  const names = ['ads.example', 'spy.example', 'a.shop.example', 'ads1.test', 'shop.example'];
  expect(names.filter((name) => lists.blocks(name))).toEqual(names);
  const others = ['www.ads.example', 'www.shop.example', 'a.good.shop.example', 'ads7.test', 'test'];
  expect(others.filter((name) => lists.blocks(name))).toEqual([]);
});

it('reads files that change, and keeps the names of those that are gone', async () => {
  const folder = await makeTemporaryFolder();
  const file = await folder.write('blocked', 'a.example\n');
  const { lists, pass, waits, context } = makeLists([`blacklist file://${file}`]);
  await lists.start();
  await writeFile(file, 'b.example\nc.example\n');
  expect(await pass()).toBe(60_000);
  await vi.waitFor(() => expect(lists.blocks('b.example')).toBe(true), 10_000);
  expect(lists.blocks('a.example')).toBe(false);
  expect(context.changes).toBe(2);
  await rm(file);
  for (let turn = 0; turn < 2; turn += 1) {
    await pass();
    await vi.waitFor(() => expect(waits).toHaveLength(1), 10_000);
  }
  expect(lists.blocks('b.example')).toBe(true);
  expect(context.lines.filter((line) => line.startsWith('warn'))).toEqual([
    expect.stringMatching(/^warn plugin\/ads: cannot read a list, its former names stay: .*ENOENT/),
  ]);
});

it('fetches lists, tries again after a failure, and again after a day', async () => {
  const { lists, asked, pass, context } = makeLists(
    [`blacklist ${URL_TEXT}`],
    [new Error('status 503'), 'a.example\n', 'b.example\n'],
  );
  await lists.start();
  expect(await pass()).toBe(60_000);
  await vi.waitFor(() => expect(lists.blocks('a.example')).toBe(true), 10_000);
  expect(context.lines[0]).toBe(
    `warn plugin/ads: cannot fetch a list, attempt 1 of 5: ${URL_TEXT}: status 503`,
  );
  expect(await pass()).toBe(DAY);
  await vi.waitFor(() => expect(lists.blocks('b.example')).toBe(true), 10_000);
  expect(lists.blocks('a.example')).toBe(false);
  expect(asked).toEqual([URL_TEXT, URL_TEXT, URL_TEXT]);
});

it('gives up after five tries until the next day', async () => {
  const { lists, asked, pass, waits } = makeLists([`blacklist ${URL_TEXT}`]);
  await lists.start();
  const passed: (number | undefined)[] = [];
  for (let turn = 0; turn < 4; turn += 1) passed.push(await pass());
  await vi.waitFor(() => expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([DAY]), 10_000);
  expect(passed).toEqual([60_000, 60_000, 60_000, 60_000]);
  expect(asked).toHaveLength(5);
});

it('fetches once with disable-auto-update', async () => {
  const { lists, waits } = makeLists([`blacklist ${URL_TEXT}`, 'disable-auto-update'], ['a.example\n']);
  await lists.start();
  await vi.waitFor(() => expect(lists.blocks('a.example')).toBe(true), 10_000);
  expect(waits).toEqual([]);
});

it('keeps what it fetched in list-store, and starts from there', async () => {
  const folder = await makeTemporaryFolder();
  const store = `${folder.path}/store.json`;
  const start = async (...fetched: readonly string[]) => {
    const made = makeLists([`blacklist ${URL_TEXT}`], fetched, store);
    await made.lists.start();
    return made;
  };
  const first = await start('a.example\n');
  await vi.waitFor(async () => expect(await readFile(store, 'utf8')).toContain('a.example'), 10_000);
  await first.lists.stop();
  const second = await start();
  expect(second.lists.blocks('a.example')).toBe(true);
  await vi.waitFor(() => expect(second.waits.map(({ milliseconds }) => milliseconds)).toEqual([DAY]), 10_000);
  expect(second.asked).toEqual([]);
  await writeFile(store, 'not JSON');
  const third = await start('b.example\n');
  await vi.waitFor(() => expect(third.lists.blocks('b.example')).toBe(true), 10_000);
});
