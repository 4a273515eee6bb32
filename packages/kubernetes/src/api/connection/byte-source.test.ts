import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { RotatingFile } from './byte-source.ts';

async function rotate() {
  const folder = await makeTemporaryFolder();
  const path = await folder.write('token', 'one');
  const clock = new ManualClock();
  const file = new RotatingFile(path, clock);
  const text = async () => (await file.read()).toString();
  return { folder, path, clock, file, text };
}

test('is looked at once a minute, or when told to', async () => {
  const { folder, clock, file, text } = await rotate();
  expect(await text()).toBe('one');
  await folder.write('token', 'second');
  clock.advance(59_999);
  expect(await text()).toBe('one');
  clock.advance(1);
  expect(await text()).toBe('second');
  await folder.write('token', 'the third');
  file.expire();
  expect(await text()).toBe('the third');
});

test('what it held last serves on while it cannot be read', async () => {
  const { folder, path, clock, text } = await rotate();
  expect(await text()).toBe('one');
  await rm(path);
  clock.advance(60_000);
  expect(await text()).toBe('one');
  await folder.write('token', 'second');
  clock.advance(60_000);
  expect(await text()).toBe('second');
});

test('one that was never there is an error that names it', async () => {
  const { folder, clock } = await rotate();
  const path = join(folder.path, 'none');
  await expect(new RotatingFile(path, clock).read()).rejects.toThrow(path);
});
