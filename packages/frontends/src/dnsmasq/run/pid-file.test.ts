import { existsSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { afterEach, expect, it, vi } from 'vitest';
import { PidFileError, writePidFile } from './pid-file.ts';

const NOBODY = { user: undefined, group: undefined };
/** Even root cannot create this file. */
const IMPOSSIBLE = '/dev/null/pid';

afterEach(() => {
  vi.restoreAllMocks();
});

it('takes the place of a link, does not follow it, and can be removed', async () => {
  const { path: folder } = await makeTemporaryFolder();
  const victim = join(folder, 'victim');
  const path = join(folder, 'pid');
  writeFileSync(victim, 'kept');
  symlinkSync(victim, path);
  const file = writePidFile(path, NOBODY);
  expect(readFileSync(victim, 'utf8')).toBe('kept');
  expect(lstatSync(path).isFile()).toBe(true);
  file?.remove();
  expect(existsSync(path)).toBe(false);
});

it('is an error for root alone: others may not be expected to write it', () => {
  vi.spyOn(process, 'getuid').mockReturnValue(0);
  expect(() => writePidFile(IMPOSSIBLE, NOBODY)).toThrow(PidFileError);
  vi.spyOn(process, 'getuid').mockReturnValue(1001);
  expect(writePidFile(IMPOSSIBLE, NOBODY)).toBeUndefined();
});
