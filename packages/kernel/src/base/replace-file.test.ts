import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { replaceFile } from './replace-file.ts';
import { makeTemporaryFolder } from './testing/temporary-folder.ts';

it('replaces a file, and leaves nothing beside it', async () => {
  const { path: folder, write } = await makeTemporaryFolder();
  const path = await write('data', 'old');
  expect(
    await replaceFile(path, 0o600, async (file) => {
      const [beside = ''] = readdirSync(folder).filter((name) => name !== 'data');
      expect(beside).toMatch(/^data\.[0-9a-f]{24}\.tmp$/);
      expect(statSync(join(folder, beside)).mode & 0o777).toBe(0o600);
      await file.writeFile('new');
      expect(readFileSync(path, 'utf8')).toBe('old');
      return 7;
    }),
  ).toBe(7);
  expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['new', ['data']]);
});

it('leaves the former file as it was when the new one cannot be written', async () => {
  const { path: folder, write } = await makeTemporaryFolder();
  const path = await write('data', 'old');
  const failing = replaceFile(path, 0o600, async (file) => {
    await file.writeFile('ne');
    throw new Error('no space');
  });
  await expect(failing).rejects.toThrow('no space');
  expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['old', ['data']]);
});
