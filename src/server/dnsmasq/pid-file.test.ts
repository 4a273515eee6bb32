import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { makeTemporaryFolder } from '../../base/testing/temporary-folder.ts';
import { PidFileError, removePidFile, writePidFile } from './pid-file.ts';

const NOBODY = { user: undefined, group: undefined };
/** No process can make a file there, not even as root. */
const IMPOSSIBLE = '/dev/null/pid';

afterEach(() => {
  vi.restoreAllMocks();
});

it('holds the number of the process until it is removed', async () => {
  const path = join((await makeTemporaryFolder()).path, 'pid');
  writePidFile(path, 4711, NOBODY);
  expect(readFileSync(path, 'utf8')).toBe('4711\n');
  removePidFile(path);
  expect(existsSync(path)).toBe(false);
});

it('takes the place of a link, and does not follow it', async () => {
  const { path: folder } = await makeTemporaryFolder();
  const victim = join(folder, 'victim');
  writeFileSync(victim, 'kept');
  symlinkSync(victim, join(folder, 'pid'));
  writePidFile(join(folder, 'pid'), 1, NOBODY);
  expect(readFileSync(victim, 'utf8')).toBe('kept');
});

it('is an error for root alone: others may not be expected to write it', () => {
  vi.spyOn(process, 'getuid').mockReturnValue(0);
  expect(() => writePidFile(IMPOSSIBLE, 1, NOBODY)).toThrow(PidFileError);
  vi.spyOn(process, 'getuid').mockReturnValue(1001);
  expect(() => writePidFile(IMPOSSIBLE, 1, NOBODY)).not.toThrow();
});
